/** What was sent to the model by one call. */
import { useQuery } from '@tanstack/react-query';
import type { JobStep, SentPrompt } from 'nightshift/client';
import { promptQuery } from '../../data/jobs.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorState } from '../../ui/error-state.tsx';
import { Json } from '../../ui/json.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import css from './timeline.module.css';

type Lost = NonNullable<JobStep['prefix_lost_at']>;

/** Why a provider could not read more of the prompt from its cache. */
export const LOST_AT: Readonly<Record<Lost, string>> = {
  model: 'at the model: another one was asked before',
  tools: 'at the tools: they are others than before',
  system: 'at the system prompt or the pinned texts',
  messages: 'within the messages: earlier ones are sent otherwise, or not at all',
};

const PARTS = {
  tools: 'tools',
  system: 'system prompt and pinned texts',
  messages: 'messages',
  parameters: 'parameters',
} as const;

export function PromptDialog({ jobId, n, onClose }: { jobId: string; n: number; onClose: () => void }) {
  const prompt = useQuery(promptQuery(jobId, n));
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={`Prompt of model call ${n}`}
      description={prompt.data === undefined ? undefined : `Sent to ${prompt.data.model}`}
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
      {differs.length > 0 && (
        <p className={css.note}>
          Not as it was sent: {differs.map((part) => PARTS[part]).join(', ')}. What is shown of these is how
          it stands now.
        </p>
      )}
      {prefix !== null && prefix.lost_at !== null && (
        <p className={css.note}>
          The provider’s prompt cache was lost {LOST_AT[prefix.lost_at]}
          {message !== null && `. The first message that differs is number ${message}, counted from 0`}.
        </p>
      )}
      <Json
        value={{ system, pinned, tools, messages, max_tokens, streaming, parameters }}
        label="Prompt"
        most={520}
      />
    </>
  );
}
