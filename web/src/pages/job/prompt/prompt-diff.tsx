/** What differs between two prompts, opened by a button: it reads both. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { promptQuery } from '../../../data/query/jobs.ts';
import { TextDiff } from '../../../diff/text-diff.tsx';
import { Button } from '../../../ui/forms/button.tsx';
import { Card } from '../../../ui/layout/card.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { jobWords } from '../../../words.ts';
import css from '../job.module.css';
import { textOfPrompt } from './prompt-text.ts';

/** One model call. */
type Place = { jobId: string; n: number };

type Props = { title: string; open: string; close: string; before: Place; after: Place };

export function PromptDiff({ title, open, close, before, after }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      title={title}
      actions={
        <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? close : open}
        </Button>
      }
      flush={!isOpen}
    >
      {isOpen && <Read title={title} before={before} after={after} />}
    </Card>
  );
}

function Read({ title, before, after }: Omit<Props, 'open' | 'close'>) {
  const one = useQuery(promptQuery(before.jobId, before.n));
  const other = useQuery(promptQuery(after.jobId, after.n));
  const failed = [one, other].find(({ isError }) => isError);
  if (failed !== undefined) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (one.data === undefined || other.data === undefined) return <Skeleton lines={4} />;
  return (
    <div className={css.stack}>
      {!(one.data.exact && other.data.exact) && <p className={css.soft}>{jobWords.prompt.diffNotExact}</p>}
      <TextDiff before={textOfPrompt(one.data)} after={textOfPrompt(other.data)} label={title} most={720} />
    </div>
  );
}
