/**
 * How the project's charts look, and how they become SVG: drawn by Apache ECharts without a DOM, so in Node as on a
 * page. ECharts is large: import this module dynamically. It is bundled into the command and the page; the library does
 * not export it.
 */
import { BarChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { RecordAdapter, RecordRuntime } from './ladder/record.ts';

use([BarChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

const WIDTH = 960;
export const INK = '#1f2933';
export const FAINT = '#66727f';
/** Ours first; the others can be told apart from it and from each other in grey as well. */
export const COLOURS = ['#2f6fde', '#f0a202', '#7a8794', '#5b4b8a', '#c2cad2', '#17756b'] as const;

/** A picture as SVG. @param option what ECharts is told, beside the look that all have */
export function drawSvg(height: number, option: object): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: { fontFamily: 'system-ui, sans-serif', color: INK },
    ...option,
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

/** The axis of the figures. */
export const valueAxis = (name: string): object => ({
  type: 'value',
  name,
  nameTextStyle: { color: FAINT },
  splitLine: { lineStyle: { color: '#e4e8ec' } },
  axisLabel: { color: FAINT },
});

/** A title, and below it whose figures these are. */
export function titleOf(
  text: string,
  source: { readonly adapter: RecordAdapter; readonly runtime: RecordRuntime; readonly date: string },
): object {
  const { adapter, runtime, date } = source;
  const facts = [
    adapter.device.replace(/-+$/, ''),
    adapter.description,
    ...(adapter.software ? ['a software GPU'] : []),
    `${runtime.name} ${runtime.version}`,
    date.slice(0, 10),
  ];
  return {
    text,
    subtext: facts.filter(Boolean).join(' · '),
    left: 24,
    top: 16,
    textStyle: { color: INK, fontSize: 18 },
    subtextStyle: { color: FAINT },
  };
}
