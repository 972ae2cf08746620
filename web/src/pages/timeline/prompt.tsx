/** Dialog with the prompt of one model call. */
import { useQuery } from '@tanstack/react-query';
import type { JobStep, SentPrompt } from 'nightshift/client';
import { promptQuery } from '../../data/query/jobs.ts';
import { Dialog } from '../../ui/layout/dialog.tsx';
import { ErrorState } from '../../ui/state/error-state.tsx';
import { Json } from '../../ui/text/json.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import css from './timeline.module.css';

type Lost = NonNullable<JobStep['prefix_lost_at']>;

/** Where the prompt differs from the prompt of the call before, which ends the provider's cached prefix. */
export const LOST_AT: Readonly<Record<Lost, string>> = {
  model: 'at the model: the previous call used another model',
  tools: 'at the tools: the list of tools changed',
  system: 'at the system prompt or the pinned texts',
  messages: 'in the messages: earlier messages were changed or removed',
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
          Changed since the call: {differs.map((part) => PARTS[part]).join(', ')}. The current values are shown instead
          of those sent.
        </p>
      )}
      {prefix !== null && prefix.lost_at !== null && (
        <p className={css.note}>
          The provider’s prompt cache was lost {LOST_AT[prefix.lost_at]}
          {message !== null && `. The first different message has the index ${message}`}.
        </p>
      )}
      <Json value={{ system, pinned, tools, messages, max_tokens, streaming, parameters }} label="Prompt" most={520} />
    </>
  );
}
