/** Dialog with the prompt of one model call. */
import { useQuery } from '@tanstack/react-query';
import type { SentPrompt } from 'nightshift/client';
import { promptQuery } from '../../../data/query/jobs.ts';
import { Dialog } from '../../../ui/layout/dialog.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import css from './timeline.module.css';
import { timelineWords } from '../../../words.ts';

const words = timelineWords.prompt;

export function PromptDialog({ jobId, n, onClose }: { jobId: string; n: number; onClose: () => void }) {
  const prompt = useQuery(promptQuery(jobId, n));
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={words.title(n)}
      description={prompt.data === undefined ? undefined : words.sentTo(prompt.data.model)}
    >
      {prompt.data !== undefined && <Whole prompt={prompt.data} />}
      {prompt.isPending && <Skeleton lines={8} height={20} />}
      {prompt.isError && <ErrorState error={prompt.error} onRetry={() => void prompt.refetch()} />}
    </Dialog>
  );
}

function Whole({ prompt }: { prompt: SentPrompt }) {
  const { system, pinned, tools, messages, max_tokens, streaming, parameters, differs, prefix } = prompt;
  const message = prefix?.message ?? null;
  return (
    <>
      {differs.length > 0 && <p className={css.note}>{words.changed(differs)}</p>}
      {prefix !== null && prefix.lost_at !== null && (
        <p className={css.note}>
          {words.cacheLost(prefix.lost_at)}
          {message !== null && ` ${words.firstDifferent(message)}`}
        </p>
      )}
      <Json
        value={{ system, pinned, tools, messages, max_tokens, streaming, parameters }}
        label={words.label}
        most={520}
      />
    </>
  );
}
