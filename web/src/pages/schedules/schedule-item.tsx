/** One schedule: when it runs, what became of its last run, and its actions. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Schedule } from 'nightshift/client';
import type { ReactNode } from 'react';
import { client } from '../../data/client.ts';
import { shortId } from '../../data/format.ts';
import { useContextName } from '../../data/names.ts';
import { keys } from '../../data/query/keys.ts';
import { useMay } from '../../data/query/session.ts';
import { Button } from '../../ui/forms/button.tsx';
import type { Place } from '../../ui/layout/long-list.tsx';
import { showError, showNotice } from '../../ui/layout/toaster.tsx';
import { Badge } from '../../ui/text/badge.tsx';
import { RelativeTime, Time } from '../../ui/text/time.tsx';
import { everyOf } from './draft.ts';
import { RunBadge } from './run-badge.tsx';
import { actionOn, commonWords, schedulesWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';
import css from './schedules.module.css';

const words = schedulesWords.item;

export function ScheduleItem({
  place,
  schedule,
  onEdit,
  onRuns,
  onDelete,
}: {
  place: Place;
  schedule: Schedule;
  onEdit: () => void;
  onRuns: () => void;
  onDelete: () => void;
}) {
  const { id, name, paused, paused_reason: reason, next_run_at: nextRunAt, last_run: last, target, user } = schedule;
  const cache = useQueryClient();
  const mayConfigure = useMay('configure');
  const onSettled = () => cache.invalidateQueries({ queryKey: keys.schedules });
  const run = useMutation({
    mutationFn: () => client.schedules.runNow(id),
    onSuccess: () => showNotice(words.running(name)),
    onError: (error) => showError(words.runFailed(name), error),
    onSettled,
  });
  const turn = useMutation({
    mutationFn: () => client.schedules.update(id, { paused: !paused }),
    onError: (error) => showError(paused ? words.resumeFailed(name) : words.pauseFailed(name), error),
    onSettled,
  });
  const turnLabel = paused ? commonWords.resume : commonWords.pause;
  return (
    <li {...place} className={css.item} aria-label={name}>
      <div className={css.head}>
        <span className={css.name}>{name}</span>
        {paused ? <Badge tone="amber">{words.paused}</Badge> : <Next at={nextRunAt} />}
        <span className={css.buttons}>
          {mayConfigure && (
            <>
              <Button size="small" busy={run.isPending} onClick={() => run.mutate()} aria-label={words.runNowOf(name)}>
                {words.runNow}
              </Button>
              <Button
                size="small"
                busy={turn.isPending}
                onClick={() => turn.mutate()}
                aria-label={actionOn(turnLabel, name)}
              >
                {turnLabel}
              </Button>
              <Button size="small" onClick={onEdit} aria-label={actionOn(commonWords.edit, name)}>
                {commonWords.edit}
              </Button>
            </>
          )}
          <Button size="small" variant="quiet" onClick={onRuns} aria-label={words.runsOf(name)}>
            {words.runs}
          </Button>
          {mayConfigure && (
            <Button size="small" variant="risky" onClick={onDelete} aria-label={actionOn(commonWords.delete, name)}>
              {commonWords.delete}
            </Button>
          )}
        </span>
      </div>
      <p className={css.facts}>
        <span className={css.when}>{timingOf(schedule)}</span> · {targetOf(target)}
        {user !== null && ` · ${user}`}
      </p>
      {reason !== null && <p className={css.reason}>{reason}</p>}
      {last !== null && (
        <p className={css.facts}>
          <RunBadge status={last.status} /> <RelativeTime at={last.at} />
          {last.job_id !== null && (
            <>
              {' · '}
              <Link to="/jobs/$jobId" params={{ jobId: last.job_id }}>
                {words.job(shortId(last.job_id))}
              </Link>
            </>
          )}
          {last.error !== null && ` · ${last.error.message}`}
        </p>
      )}
    </li>
  );
}

function Next({ at }: { at: string | null }) {
  if (at === null) return <Badge>{words.over}</Badge>;
  return (
    <span className={css.next}>
      <Sentence text={words.next} gaps={{ when: <RelativeTime at={at} /> }} />
    </span>
  );
}

function timingOf({ cron, every_s: everyS, at, timezone }: Schedule): ReactNode {
  if (cron !== null) return words.cron(cron, timezone);
  if (everyS !== null) {
    const { amount, unit } = everyOf(everyS);
    return words.every(amount, unit);
  }
  return at === null ? '' : <Sentence text={words.once} gaps={{ when: <Time at={at} as="minute" /> }} />;
}

function targetOf({ context_id: contextId, worker }: Schedule['target']): ReactNode {
  if (contextId === undefined) return words.newWorker(worker?.name ?? '');
  return <Sentence text={words.context} gaps={{ name: <ContextLink contextId={contextId} /> }} />;
}

function ContextLink({ contextId }: { contextId: string }) {
  const name = useContextName(contextId);
  return (
    <Link to="/contexts/$contextId" params={{ contextId }}>
      {name}
    </Link>
  );
}
