/** A chart over time; the same data is available as a table for accessibility. */
import { ChartColumn, Table2 } from 'lucide-react';
import { useId, useState, type ReactElement } from 'react';
import { Bar, BarChart, CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import type { StatsBucket, StatsHistory } from 'nightshift/client';
import { IconButton } from '../../ui/forms/button.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { Table } from '../../ui/layout/table.tsx';
import { useTimeFormat } from '../../ui/text/time-format.ts';
import { formatMoment } from './moments.ts';
import { overviewWords } from '../../words.ts';
import css from './overview.module.css';

const words = overviewWords.plot;

export type Series = {
  name: string;
  /** Contrast to the background is at least 3:1 in both themes. */
  colour: string;
  dashed?: true;
  /** Null if the bucket has no value. */
  of: (bucket: StatsBucket) => number | null;
};

type Props = {
  title: string;
  about: string;
  /** bars: stacked. */
  kind: 'bars' | 'lines';
  series: readonly Series[];
  history: StatsHistory;
  format: (value: number) => string;
  /** Of bars: the axis has values that are no whole numbers. */
  hasFractions?: boolean;
};

export function Plot(props: Props) {
  const { title, about, series, history } = props;
  const [isTable, setTable] = useState(false);
  const id = useId();
  const isEmpty = history.data.every((bucket) => series.every(({ of }) => (of(bucket) ?? 0) === 0));
  return (
    <Card
      title={title}
      actions={
        <IconButton
          size="small"
          label={isTable ? words.showChart(title) : words.showTable(title)}
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
        >
          {isTable ? <ChartColumn /> : <Table2 />}
        </IconButton>
      }
    >
      <figure aria-labelledby={id}>
        <figcaption id={id} className={css.caption}>
          {about}
        </figcaption>
        {isTable ? (
          <AsTable {...props} />
        ) : isEmpty ? (
          <p className={css.empty}>{words.empty}</p>
        ) : (
          <>
            <Drawing {...props} />
            {series.length > 1 && <Legend series={series} />}
          </>
        )}
      </figure>
    </Card>
  );
}

function Drawing({ title, kind, series, history, format, hasFractions = false }: Props) {
  const formatTime = useTimeFormat();
  const rows = history.data.map((bucket) => ({
    at: bucket.at,
    ...Object.fromEntries(series.map(({ name, of }) => [name, of(bucket)])),
  }));
  const parts = [
    <CartesianGrid key="grid" vertical={false} stroke="var(--line)" />,
    <XAxis
      key="x"
      dataKey="at"
      tickFormatter={(at: string) => formatMoment(at, history.bucket_s, 'short', formatTime)}
      minTickGap={48}
      tickLine={false}
      axisLine={{ stroke: 'var(--line-strong)' }}
    />,
    <YAxis
      key="y"
      tickFormatter={format}
      width={64}
      tickLine={false}
      axisLine={false}
      allowDecimals={kind !== 'bars' || hasFractions}
    />,
    <Tooltip
      key="tip"
      isAnimationActive={false}
      cursor={{ fill: 'var(--hover)', stroke: 'var(--line-strong)' }}
      labelFormatter={(at) => formatMoment(typeof at === 'string' ? at : '', history.bucket_s, 'long', formatTime)}
      formatter={(value) => (typeof value === 'number' ? format(value) : '–')}
      wrapperClassName={css.tip ?? ''}
    />,
  ];
  const chart: ReactElement =
    kind === 'bars' ? (
      <BarChart data={rows} title={title} desc={words.keys}>
        {parts}
        {series.map(({ name, colour }) => (
          <Bar key={name} dataKey={name} stackId="all" fill={colour} isAnimationActive={false} />
        ))}
      </BarChart>
    ) : (
      <LineChart data={rows} title={title} desc={words.keys}>
        {parts}
        {series.map(({ name, colour, dashed }) => (
          <Line
            key={name}
            dataKey={name}
            stroke={colour}
            strokeWidth={2}
            {...(dashed === true ? { strokeDasharray: '4 4' } : {})}
            dot={{ r: 2, fill: colour, strokeWidth: 0 }}
            connectNulls
            isAnimationActive={false}
          />
        ))}
      </LineChart>
    );
  return (
    <div className={css.drawing}>
      <ResponsiveContainer width="100%" height="100%">
        {chart}
      </ResponsiveContainer>
    </div>
  );
}

function Legend({ series }: { series: readonly Series[] }) {
  return (
    <ul className={css.legend}>
      {series.map(({ name, colour, dashed }) => (
        <li key={name}>
          <svg width="18" height="8" aria-hidden="true">
            <line
              x1="1"
              x2="17"
              y1="4"
              y2="4"
              stroke={colour}
              strokeWidth="4"
              strokeDasharray={dashed === true ? '4 4' : undefined}
            />
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}

function AsTable({ title, series, history, format }: Props) {
  const formatTime = useTimeFormat();
  const rows = history.data.filter((bucket) => series.some(({ of }) => (of(bucket) ?? 0) !== 0)).toReversed();
  if (rows.length === 0) return <p className={css.empty}>{words.empty}</p>;
  return (
    <Table
      label={words.overTime(title)}
      rows={rows}
      rowKey={({ at }) => at}
      columns={[
        { name: 'at', head: words.from, cell: ({ at }) => formatMoment(at, history.bucket_s, 'long', formatTime) },
        ...series.map(({ name, of }) => ({
          name,
          head: name,
          kind: 'right' as const,
          cell: (bucket: StatsBucket) => {
            const value = of(bucket);
            return value === null ? '–' : format(value);
          },
        })),
      ]}
    />
  );
}
