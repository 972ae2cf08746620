/** Where a schedule posts: to a new worker in each run, or to one context. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { contextName } from '../../data/format.ts';
import { contextsQuery } from '../../data/query/contexts.ts';
import { allOf } from '../../data/query/pages-of.ts';
import { useRoleNames } from '../../data/query/workers.ts';
import { Segments, SelectFilter } from '../../ui/forms/filters.tsx';
import { TextField } from '../../ui/forms/field.tsx';
import type { Edited } from './edited.ts';
import { schedulesWords } from '../../words.ts';
import css from './schedules.module.css';

const words = schedulesWords.target;

const KINDS = (['worker', 'context'] as const).map((value) => ({ value, label: words.kinds[value] }));

/** The user of a schedule never changes. */
export function TargetFields({ edited, isNew }: { edited: Edited; isNew: boolean }) {
  const { draft, faultOf, onChange } = edited;
  return (
    <>
      <Segments label={words.label} value={draft.target} segments={KINDS} onChange={(target) => onChange({ target })} />
      {draft.target === 'worker' ? <NewWorker edited={edited} /> : <OneContext edited={edited} />}
      <TextField
        label={words.user}
        disabled={!isNew}
        maxLength={500}
        autoComplete="off"
        hint={isNew ? words.userHint : words.userFixed}
        value={draft.user}
        error={faultOf('user')}
        onChange={({ target }) => onChange({ user: target.value })}
      />
    </>
  );
}

function NewWorker({ edited: { draft, faultOf, onChange } }: { edited: Edited }) {
  const { role } = draft;
  const roles = useRoleNames(role);
  return (
    <div className={css.pair}>
      <TextField
        label={words.worker}
        required
        maxLength={200}
        autoComplete="off"
        value={draft.workerName}
        error={faultOf('target.worker.name')}
        onChange={({ target }) => onChange({ workerName: target.value })}
      />
      <SelectFilter
        label={words.role}
        any={words.noRole}
        value={role ?? undefined}
        error={faultOf('target.worker.role')}
        options={roles.map((name) => ({ value: name, label: name }))}
        onChange={(chosen) => onChange({ role: chosen ?? null })}
      />
    </div>
  );
}

function OneContext({ edited: { draft, faultOf, onChange } }: { edited: Edited }) {
  const contexts = allOf(useInfiniteQuery(contextsQuery()).data);
  const chosen = contexts.find(({ id }) => id === draft.contextId.trim());
  return (
    <TextField
      label={words.context}
      required
      suggestions={contexts.map((context) => ({ value: context.id, label: contextName(context) }))}
      hint={chosen === undefined ? words.contextHint : contextName(chosen)}
      value={draft.contextId}
      error={faultOf('target.context_id')}
      onChange={({ target }) => onChange({ contextId: target.value })}
    />
  );
}
