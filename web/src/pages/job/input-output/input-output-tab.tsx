/** What the job was asked, and what it answered: as in the chat, or as it is stored. */
import { useQuery } from '@tanstack/react-query';
import { isFinished, type Job, type JobOutput } from 'nightshift/client';
import { useState, type ReactNode } from 'react';
import { messageQuery } from '../../../data/query/contexts.ts';
import { Card } from '../../../ui/layout/card.tsx';
import { Skeleton } from '../../../ui/layout/skeleton.tsx';
import { ErrorState } from '../../../ui/state/error-state.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { JsonTree } from '../../../ui/text/json-tree.tsx';
import { jobWords } from '../../../words.ts';
import css from '../job.module.css';
import { Blocks } from './blocks.tsx';
import styles from './input-output.module.css';
import { ViewChoice, type View } from './view-choice.tsx';

const words = jobWords.io;

export function InputOutputTab({ job }: { job: Job }) {
  return (
    <div className={styles.pair}>
      {job.input === null ? (
        <Part title={words.input}>{() => <p className={css.soft}>{words.noInput}</p>}</Part>
      ) : (
        <Part title={words.input} canSwitch>
          {(view) => (
            <Stored contextId={job.context_id} messageId={job.input?.message_id ?? ''} as="plain" view={view} />
          )}
        </Part>
      )}
      {job.output === null ? (
        <Part title={words.output}>
          {() => <p className={css.soft}>{isFinished(job) ? words.noOutput : words.noOutputYet}</p>}
        </Part>
      ) : (
        <Output job={job} output={job.output} />
      )}
    </div>
  );
}

function Output({ job, output }: { job: Job; output: JobOutput }) {
  const { data, message_id: messageId } = output;
  return (
    <Part title={words.output} canSwitch>
      {(view) =>
        view === 'rendered' && data !== null ? (
          <JsonTree value={data} label={words.data} />
        ) : (
          <Stored contextId={job.context_id} messageId={messageId} as="markdown" view={view} />
        )
      }
    </Part>
  );
}

type PartProps = { title: string; canSwitch?: boolean; children: (view: View) => ReactNode };

function Part({ title, canSwitch = false, children }: PartProps) {
  const [view, setView] = useState<View>('rendered');
  return (
    <Card
      title={title}
      actions={canSwitch && <ViewChoice label={words.showAs(title)} value={view} onChange={setView} />}
      className={styles.part}
    >
      {children(view)}
    </Card>
  );
}

type StoredProps = { contextId: string; messageId: string; as: 'plain' | 'markdown'; view: View };

function Stored({ contextId, messageId, as, view }: StoredProps) {
  const message = useQuery(messageQuery(contextId, messageId));
  if (message.data === undefined)
    return message.isError ? <ErrorState error={message.error} onRetry={() => void message.refetch()} /> : <Skeleton />;
  return view === 'raw' ? (
    <Json value={message.data.content} most={640} />
  ) : (
    <Blocks content={message.data.content} as={as} />
  );
}
