import { overviewWords } from '../../words.ts';

const labels = overviewWords.spans;

/** Selectable time ranges. */
export const SPANS = [
  { value: '1h', label: labels['1h'], seconds: 3_600 },
  { value: '24h', label: labels['24h'], seconds: 86_400 },
  { value: '7d', label: labels['7d'], seconds: 604_800 },
  { value: '30d', label: labels['30d'], seconds: 2_592_000 },
] as const;

export type Span = (typeof SPANS)[number];

export function spanNamed(name: string | undefined): Span {
  return SPANS.find(({ value }) => value === name) ?? SPANS[1];
}
