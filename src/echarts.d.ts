// What svg-chart.ts uses of ECharts. Its own declarations import each other without file endings, which TypeScript does
// not follow under `nodenext`.
declare module 'echarts/core' {
  export interface SvgChart {
    setOption(option: object): void;
    renderToSVGString(): string;
    dispose(): void;
  }
  export function init(
    element: null,
    theme: null,
    options: { renderer: 'svg'; ssr: true; width: number; height: number },
  ): SvgChart;
  export function use(parts: readonly object[]): void;
}
declare module 'echarts/charts' {
  export const BarChart: object;
}
declare module 'echarts/components' {
  export const GridComponent: object;
  export const LegendComponent: object;
  export const TitleComponent: object;
}
declare module 'echarts/renderers' {
  export const SVGRenderer: object;
}
