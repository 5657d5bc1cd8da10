/**
 * The ladder as an SVG picture, drawn by Apache ECharts without a DOM, so in Node as on a page. ECharts is large:
 * import this module dynamically. It is bundled into the command and the page; the library does not export it.
 */
import { BarChart } from 'echarts/charts';
import { GridComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { LadderRecord } from './record.ts';

use([BarChart, GridComponent, TitleComponent, SVGRenderer]);

const WIDTH = 960;
const ROW = 44;
const INK = '#1f2933';
const FAINT = '#66727f';

/** @param ideas the one idea of each rung by its id */
export function ladderChart(record: LadderRecord, ideas: readonly { id: string; idea: string }[]): string {
  const { adapter, problem, rungs, runtime } = record;
  const labels = rungs.map(
    ({ rung, id }) => `{rung|${rung}} ${ideas.find(one => one.id === id)?.idea ?? id}`,
  );
  const chart = init(null, null, {
    renderer: 'svg',
    ssr: true,
    width: WIDTH,
    height: 120 + ROW * rungs.length,
  });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: { fontFamily: 'system-ui, sans-serif', color: INK },
    title: {
      text: `The matmul ladder, ${problem.m}×${problem.n}×${problem.k}`,
      subtext: [
        adapter.device || adapter.description,
        adapter.software ? 'a software GPU' : adapter.description,
        `${runtime.name} ${runtime.version}`,
        record.date.slice(0, 10),
      ].join(' · '),
      left: 24,
      top: 16,
      textStyle: { color: INK, fontSize: 18 },
      subtextStyle: { color: FAINT },
    },
    grid: { left: 24, right: 170, top: 84, bottom: 28, containLabel: true },
    xAxis: {
      type: 'value',
      name: 'GFLOP/s',
      nameTextStyle: { color: FAINT },
      splitLine: { lineStyle: { color: '#e4e8ec' } },
      axisLabel: { color: FAINT },
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: labels,
      axisTick: { show: false },
      axisLabel: {
        color: INK,
        fontSize: 13,
        rich: { rung: { fontWeight: 'bold', width: 24, fontSize: 13 } },
      },
    },
    series: [
      {
        type: 'bar',
        barWidth: '62%',
        itemStyle: { color: '#2f6fde', borderRadius: [0, 3, 3, 0] },
        // A rung without a figure has an empty bar that says why.
        data: rungs.map(({ gflops, overBelow, status }) => ({
          value: gflops ?? 0,
          label: {
            show: true,
            position: 'right' as const,
            color: INK,
            formatter: gflops === null ? status : barLabel(gflops, overBelow),
          },
        })),
      },
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

function barLabel(gflops: number, overBelow: number | null): string {
  const figure = gflops.toLocaleString('en-US', { maximumSignificantDigits: 4 });
  return overBelow === null ? figure : `${figure}  (× ${overBelow.toFixed(2)})`;
}
