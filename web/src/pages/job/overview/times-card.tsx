/** When the job was made, began and ended, and for how long it was queued, ran and waited. */
import { isFinished, type Job, type JobStep } from 'nightshift/client';
import { useMemo } from 'react';
import { Card } from '../../../ui/layout/card.tsx';
import { useNow } from '../../../ui/state/clock.ts';
import { formatDuration, Time } from '../../../ui/text/time.tsx';
import { jobWords, type SpentOn } from '../../../words.ts';
import { Fact } from '../fact.tsx';
import css from '../job.module.css';
import type { Row } from '../timeline/rows/rows.ts';
import { spentUntil, timeSpent, type Spent } from '../timeline/rows/time-spent.ts';

const words = jobWords.overview;
const { facts } = jobWords;

/** Effectively disables the clock: the times of a finished job do not change. */
const NEVER_MS = 1e15;

const QUEUED: readonly SpentOn[] = ['queue', 'delay'];
const RUNNING: readonly SpentOn[] = ['model', 'tools', 'failed', 'other'];

type Props = { job: Job; steps: readonly JobStep[]; rows: readonly Row[] };

export function TimesCard({ job, steps, rows }: Props) {
  const now = useNow(isFinished(job) ? NEVER_MS : 1_000);
  const known = useMemo(() => timeSpent(rows), [rows]);
  const spent = spentUntil(known, now);
  const isWait = ({ on }: Spent): boolean => !QUEUED.includes(on) && !RUNNING.includes(on);
  const firstToken = steps.find(({ first_token_at: at }) => at !== null)?.first_token_at ?? null;
  return (
    <Card title={words.times}>
      <dl className={css.list}>
        <Fact name={facts.created}>
          <Time at={job.created_at} as="second" />
        </Fact>
        <Fact name={facts.started}>
          <At at={job.started_at} />
        </Fact>
        <Fact name={words.firstToken}>
          {firstToken === null || job.started_at === null
            ? facts.notYet
            : words.afterStart(formatDuration(Date.parse(firstToken) - Date.parse(job.started_at)))}
        </Fact>
        <Fact name={facts.ended}>
          <At at={job.finished_at} />
        </Fact>
        <Fact name={words.queued}>{sum(spent.filter(({ on }) => QUEUED.includes(on)))}</Fact>
        <Fact name={words.running}>{sum(spent.filter(({ on }) => RUNNING.includes(on)))}</Fact>
        <Fact name={words.waiting}>{sum(spent.filter(isWait))}</Fact>
      </dl>
    </Card>
  );
}

function At({ at }: { at: string | null }) {
  return at === null ? facts.notYet : <Time at={at} as="second" />;
}

function sum(spent: readonly Spent[]): string {
  return formatDuration(spent.reduce((total, { ms }) => total + ms, 0));
}
