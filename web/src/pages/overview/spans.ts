/** Selectable time ranges. */
export const SPANS = [
  { value: '1h', label: '1 hour', seconds: 3_600 },
  { value: '24h', label: '24 hours', seconds: 86_400 },
  { value: '7d', label: '7 days', seconds: 604_800 },
  { value: '30d', label: '30 days', seconds: 2_592_000 },
] as const;

export type Span = (typeof SPANS)[number];

export function spanNamed(name: string | undefined): Span {
  return SPANS.find(({ value }) => value === name) ?? SPANS[1];
}
