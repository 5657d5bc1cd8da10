import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly number?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  /** The first column names the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
}

/** A table that scrolls sideways on its own where it is wider than its room. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table-box" tabIndex={0} aria-label={caption}>
      <table class="table">
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, number }) => (
              <th key={head} scope="col" class={number ? 'number' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)}>
              {columns.map(({ head, cell, number }, index) =>
                index === 0 ? (
                  <th key={head} scope="row" class={number ? 'number' : undefined}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={head} class={number ? 'number' : undefined}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
