/** The calls and attempts of the job that failed: when, and with which error. */
import type { JobStep } from 'nightshift/client';
import { Card } from '../../../ui/layout/card.tsx';
import { Table } from '../../../ui/layout/table.tsx';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { Time } from '../../../ui/text/time.tsx';
import { jobWords } from '../../../words.ts';
import css from '../job.module.css';

const words = jobWords.overview;

/** Failures that are shown, the newest first. */
const SHOWN = 100;

export function Failures({ steps }: { steps: readonly JobStep[] }) {
  const failed = steps.flatMap((step, at) => (hasFailed(step) ? [{ step, at }] : []));
  if (failed.length === 0)
    return (
      <Card title={words.failures}>
        <p className={css.soft}>{words.noFailures}</p>
      </Card>
    );
  return (
    <Card title={words.failures} flush>
      <Table
        label={words.failures}
        flush
        rows={failed.slice(-SHOWN).toReversed()}
        rowKey={({ at }) => String(at)}
        columns={[
          {
            name: 'when',
            head: words.when,
            cell: ({ step }) => <Time at={step.ended_at ?? step.started_at} as="second" />,
          },
          { name: 'call', head: words.call, cell: ({ step }) => step.name },
          { name: 'status', head: jobWords.facts.status, cell: ({ step }) => <StatusBadge status={step.status} /> },
          { name: 'attempt', head: words.callAttempt, kind: 'right', cell: ({ step }) => step.attempt ?? '–' },
          {
            name: 'error',
            head: words.error,
            kind: 'wide',
            cell: ({ step: { error } }) =>
              error === null ? (
                words.noError
              ) : (
                <span title={error.message}>
                  {error.message} (<code>{error.code}</code>)
                </span>
              ),
          },
        ]}
      />
      {failed.length > SHOWN && <p className={css.note}>{words.allFailures(SHOWN, failed.length)}</p>}
    </Card>
  );
}

function hasFailed({ kind, status, error }: JobStep): boolean {
  return kind !== 'wait' && (error !== null || status === 'failed' || status === 'unknown');
}
