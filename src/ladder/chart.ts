/**
 * The ladder as an SVG picture, drawn by Apache ECharts without a DOM, so in Node as on a page. ECharts is large:
 * import this module dynamically. It is bundled into the command and the page; the library does not export it.
 */
import { BarChart } from 'echarts/charts';
import { GridComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { LadderRecord, RungRecord } from './record.ts';

use([BarChart, GridComponent, TitleComponent, SVGRenderer]);

const WIDTH = 960;
const ROW = 44;
const LABELS = 352;
const INK = '#1f2933';
const FAINT = '#66727f';

/** @param ideas the one idea of each rung, by its id */
export function ladderChart(record: LadderRecord, ideas: readonly { id: string; idea: string }[]): string {
  const { rungs } = record;
  const height = 120 + ROW * rungs.length;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: { fontFamily: 'system-ui, sans-serif', color: INK },
    title: titleOf(record),
    grid: { left: 24 + LABELS, right: 150, top: 84, bottom: 40 },
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
      data: rungs.map(({ rung, id }) => `{rung|${rung}}${ideas.find(one => one.id === id)?.idea ?? id}`),
      axisTick: { show: false },
      axisLabel: {
        ...{ color: INK, fontSize: 13, align: 'left', margin: LABELS },
        // A column of their own, so that the ideas line up.
        rich: { rung: { width: 28, fontWeight: 'bold', color: INK, fontSize: 13 } },
      },
    },
    series: [
      {
        type: 'bar',
        barWidth: '62%',
        itemStyle: { color: '#2f6fde', borderRadius: [0, 3, 3, 0] },
        data: rungs.map(rung => ({
          value: rung.gflops ?? 0,
          label: { show: true, position: 'right', color: INK, formatter: labelOf(rung) },
        })),
      },
    ],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

function titleOf({ adapter, problem, runtime, date }: LadderRecord): object {
  const facts = [
    adapter.device.replace(/-+$/, ''),
    adapter.description,
    ...(adapter.software ? ['a software GPU'] : []),
    `${runtime.name} ${runtime.version}`,
    date.slice(0, 10),
  ];
  return {
    text: `The matmul ladder, ${problem.m}×${problem.n}×${problem.k}`,
    subtext: facts.filter(Boolean).join(' · '),
    left: 24,
    top: 16,
    textStyle: { color: INK, fontSize: 18 },
    subtextStyle: { color: FAINT },
  };
}

/** A rung without a figure has an empty bar that says why. */
function labelOf({ gflops, overBelow, status }: RungRecord): string {
  if (gflops === null) return status === 'unsupported' ? 'not on this device' : status.toUpperCase();
  const figure = gflops.toLocaleString('en-US', { maximumSignificantDigits: 4 });
  return overBelow === null ? figure : `${figure}  (× ${overBelow.toFixed(2)})`;
}
