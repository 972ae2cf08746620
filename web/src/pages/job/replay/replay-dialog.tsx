/** Asks for what is different in the replay, and says what its tools do. */
import { useQuery } from '@tanstack/react-query';
import type { Job } from 'nightshift/client';
import { useState } from 'react';
import { client } from '../../../data/client.ts';
import { shortId } from '../../../data/format.ts';
import { readSettings } from '../../../data/jobs/replay.ts';
import type { Settings, ToolMode, Wanted } from '../../../data/jobs/replay-settings.ts';
import { beginReplay, type Attempt, type Replay } from '../../../data/jobs/start-replay.ts';
import { keys } from '../../../data/query/keys.ts';
import { FormDialog } from '../../../ui/layout/form-dialog.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { jobWords } from '../../../words.ts';
import { readDraft, toDraft, type ReplayDraft } from './draft.ts';
import { ReplayFields } from './replay-fields.tsx';
import { UnknownReplay } from './unknown-replay.tsx';
import { useStart } from './use-start.ts';

const words = jobWords.replay;

/** `unknown`: a replay that may have started. It is repeated as it was, so that it runs once. */
type Props = {
  job: Job;
  unknown: Attempt | null;
  onUnknown: (attempt: Attempt | null) => void;
  onClose: () => void;
};

export function ReplayDialog({ job, unknown, onUnknown, onClose }: Props) {
  const settings = useQuery({
    queryKey: keys.replay(job.id),
    queryFn: ({ signal }) => readSettings(client, job, signal),
    gcTime: 0,
  });
  const [changes, setChanges] = useState<Partial<ReplayDraft>>({});
  const [tools, setTools] = useState<ToolMode>(unknown?.replay.tools ?? 'ask');
  const first = unknown?.replay.wanted ?? settings.data;
  const draft = first === undefined ? null : { ...toDraft(first), ...changes };
  const { wanted, fault } = draft === null ? { wanted: null, fault: null } : readDraft(draft);
  const start = useStart(job, { onUnknown, onStarted: onClose });
  const replay = unknown?.replay ?? toReplay(job, settings.data, wanted, tools);
  return (
    <FormDialog
      title={words.title}
      description={words.about}
      wide
      submit={unknown === null ? words.submit : words.submitAgain}
      canSubmit={replay !== null}
      saving={start}
      onSubmit={() => replay !== null && start.mutate(unknown ?? beginReplay(replay))}
      onClose={onClose}
    >
      {draft === null &&
        (settings.isError ? (
          <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />
        ) : (
          <Skeleton lines={6} />
        ))}
      {draft !== null && (
        <ReplayFields
          draft={draft}
          tools={tools}
          note={settings.data === undefined ? undefined : noteOf(settings.data)}
          fault={fault}
          disabled={unknown !== null}
          onChange={(change) => setChanges({ ...changes, ...change })}
          onTools={setTools}
        />
      )}
      {unknown !== null && <UnknownReplay fork={unknown.fork} />}
    </FormDialog>
  );
}

/** Null: it cannot be started. */
function toReplay(job: Job, settings: Settings | undefined, wanted: Wanted | null, tools: ToolMode): Replay | null {
  if (settings === undefined || wanted === null || job.input === null) return null;
  const title = words.forkTitle(shortId(job.id));
  const { outputSchema } = settings;
  return { messageId: job.input.message_id, title, wanted, tools, outputSchema };
}

function noteOf({ from }: Settings): string | undefined {
  switch (from) {
    case 'sent':
      return undefined;
    case 'changed':
      return words.changed;
    case 'current':
      return words.current;
  }
}
