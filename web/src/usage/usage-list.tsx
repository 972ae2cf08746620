/** What a tenant uses of each of its limits, in words and as bars. */
import { OctagonAlert, TriangleAlert } from 'lucide-react';
import type { TenantUsage } from 'nightshift/client';
import { Badge } from '../ui/text/badge.tsx';
import { LIMIT_TEXTS, formatExact, type LimitText } from './limit-texts.ts';
import { nearnessOf, type Nearness } from './nearness.ts';
import { usageWords } from '../words.ts';
import css from './usage-list.module.css';

type Limits = TenantUsage['limits'];

/** Whether there is any limit. */
export function hasLimits({ limits }: TenantUsage): boolean {
  return Object.values(limits).some(({ limit }) => limit !== null);
}

export function UsageList({ usage: { limits } }: { usage: TenantUsage }) {
  return (
    <ul className={css.list} aria-label={usageWords.title}>
      {LIMIT_TEXTS.map((text) => (
        <UsageItem key={text.name} text={text} of={limits[text.name]} />
      ))}
    </ul>
  );
}

type ItemProps = { text: LimitText; of: Limits[keyof Limits] };

function UsageItem({ text: { label, about, format }, of: { used, limit } }: ItemProps) {
  const isCounted = used !== null && limit !== null;
  return (
    <li className={css.item} aria-label={label}>
      <div className={css.head}>
        <span className={css.name}>{label}</span>
        {isCounted && <Mark nearness={nearnessOf(used, limit)} />}
        <span className={css.value}>{valueText({ used, limit }, format)}</span>
      </div>
      {isCounted && <Bar label={label} used={used} limit={limit} format={format} />}
      <p className={css.about}>{about}</p>
    </li>
  );
}

function valueText({ used, limit }: { used: number | null; limit: number | null }, format: (value: number) => string) {
  // The unit is written once, after the limit.
  const shown = used === null ? null : limit === null ? format(used) : formatExact(used);
  return usageWords.value(shown, limit === null ? null : format(limit));
}

const MARKS = {
  near: { tone: 'amber', icon: TriangleAlert },
  at: { tone: 'red', icon: OctagonAlert },
  above: { tone: 'red', icon: OctagonAlert },
} as const;

function Mark({ nearness }: { nearness: Nearness }) {
  if (nearness === 'within') return null;
  const { tone, icon: Icon } = MARKS[nearness];
  return (
    <Badge tone={tone}>
      <Icon className={css.icon} aria-hidden="true" /> {usageWords.nearness[nearness]}
    </Badge>
  );
}

type BarProps = { label: string; used: number; limit: number; format: (value: number) => string };

function Bar({ label, used, limit, format }: BarProps) {
  return (
    <div
      className={css.bar}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(used, limit)}
      aria-valuetext={usageWords.bar(formatExact(used), format(limit))}
    >
      <svg className={css.fill} data-nearness={nearnessOf(used, limit)} viewBox="0 0 100 1" preserveAspectRatio="none">
        <rect width={Math.min(100, (100 * used) / limit)} height="1" />
      </svg>
    </div>
  );
}
