/** Formats the result as a table and as JSON. */
import { availableParallelism, release } from 'node:os';
import { isMet, ratio, type Figure, type Goal } from './figures.ts';

export type Result = {
  at: string;
  machine: { cores: number; node: string; kernel: string; services: string };
  format: string;
  rounds: number;
  figures: Figure[];
};

export function resultOf(services: string, format: string, rounds: number, figures: Figure[]): Result {
  const machine = { cores: availableParallelism(), node: process.version, kernel: release(), services };
  return { at: new Date().toISOString(), machine, format, rounds, figures };
}

/** Aligned columns, one line per figure. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = [
    ['', 'unit', 'Nightshift', 'baseline', 'ratio', 'goal', ''],
    ...figures.map((figure) => [
      figure.name,
      figure.unit,
      number(figure.nightshift),
      number(figure.baseline),
      number(ratio(figure)),
      goalOf(figure.goal),
      conclusionOf(figure),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) =>
        column >= 2 && column <= 4 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return rows.map(line).join('\n');
}

function number(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

function goalOf(goal: Goal | null): string {
  if (goal === null) return '';
  return `${goal.is} ${goal.bound.toLocaleString('en')}${goal.of === 'ratio' ? ' ×' : ''}`;
}

function conclusionOf(figure: Figure): string {
  const met = isMet(figure);
  return met === null ? '' : met ? 'met' : 'missed';
}
