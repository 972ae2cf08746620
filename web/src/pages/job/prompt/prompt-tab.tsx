/** The prompts of the job, one for each model call. The address keeps the call: `?call=`. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, FileText } from 'lucide-react';
import type { Job, JobStep } from 'nightshift/client';
import { useState } from 'react';
import { jobStepsQuery } from '../../../data/live/job-steps.ts';
import { promptQuery } from '../../../data/query/jobs.ts';
import { useMay } from '../../../data/query/session.ts';
import { Button, IconButton } from '../../../ui/forms/button.tsx';
import { Select } from '../../../ui/forms/select.tsx';
import { Empty } from '../../../ui/layout/empty.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { MissingScope } from '../../../ui/state/missing-scope.tsx';
import { useTimeFormat } from '../../../ui/text/time-format.ts';
import { jobWords } from '../../../words.ts';
import css from '../job.module.css';
import { PromptDiff } from './prompt-diff.tsx';
import { PromptView } from './prompt-view.tsx';

const words = jobWords.prompt;

type Call = JobStep & { n: number };

export function PromptTab({ job }: { job: Job }) {
  return useMay('configure') ? <Calls job={job} /> : <MissingScope scope="configure" />;
}

function Calls({ job }: { job: Job }) {
  const { data, isError, error, refetch } = useQuery(jobStepsQuery(job.id));
  if (data === undefined)
    return isError ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Skeleton lines={8} />;
  const calls = data.steps.filter((step): step is Call => step.n !== null);
  const last = calls.at(-1);
  if (last === undefined) return <Empty icon={<FileText aria-hidden="true" />} title={words.empty} />;
  return <Chosen job={job} calls={calls} last={last} />;
}

function Chosen({ job, calls, last }: { job: Job; calls: readonly Call[]; last: Call }) {
  const search = useSearch({ from: '/jobs/$jobId' });
  const navigate = useNavigate();
  const format = useTimeFormat();
  // A later call does not replace the one that is being read.
  const [first] = useState(last.n);
  const call = calls.find(({ n }) => n === (search.call ?? first)) ?? last;
  const at = calls.indexOf(call);
  const go = (n: number): void =>
    void navigate({ to: '/jobs/$jobId', params: { jobId: job.id }, search: { ...search, call: n }, replace: true });
  const optionOf = ({ n, name, started_at, status }: Call) => {
    const label = status === 'failed' ? words.failedOption : words.option;
    return { value: String(n), label: label(n, name, format(Date.parse(started_at), 'clock')) };
  };
  const [before, after] = [calls[at - 1], calls[at + 1]];
  return (
    <div className={css.stack}>
      <div className={css.choice}>
        <Select
          label={words.call}
          value={String(call.n)}
          options={calls.map(optionOf)}
          onChange={(n) => go(Number(n))}
        />
        <IconButton label={words.earlier} disabled={before === undefined} onClick={() => go(before?.n ?? call.n)}>
          <ChevronLeft />
        </IconButton>
        <IconButton label={words.later} disabled={after === undefined} onClick={() => go(after?.n ?? call.n)}>
          <ChevronRight />
        </IconButton>
        {call !== last && <Button onClick={() => go(last.n)}>{words.newest}</Button>}
      </div>
      {before !== undefined && (
        <PromptDiff
          key={`#${call.n}`}
          title={words.changes(before.n)}
          open={words.showChanges}
          close={words.hideChanges}
          before={{ jobId: job.id, n: before.n }}
          after={{ jobId: job.id, n: call.n }}
        />
      )}
      <Prompt key={call.n} job={job} call={call} />
    </div>
  );
}

function Prompt({ job, call }: { job: Job; call: Call }) {
  const prompt = useQuery(promptQuery(job.id, call.n));
  if (prompt.data !== undefined) return <PromptView prompt={prompt.data} usage={call.usage} />;
  return prompt.isError ? (
    <ErrorState error={prompt.error} onRetry={() => void prompt.refetch()} />
  ) : (
    <Skeleton lines={8} />
  );
}
