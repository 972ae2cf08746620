/** Sentences for the entries of the audit log: who did what. Pure functions. */
import type { Actor, AuditEntry } from 'nightshift/client';
import { actorName, keyText, type KeyNames } from '../../../data/actors.ts';
import { shortId } from '../../../data/format.ts';
import { auditWords } from '../../../words.ts';

const { did } = auditWords;

/** The page that shows what an entry is about; null: there is none, or it no longer exists. */
export type Subject =
  | { page: 'context'; id: string }
  | { page: 'job'; id: string }
  | { page: 'keys' | 'roles' | 'schedules' | 'webhooks' }
  | null;

export type Sentence = { who: string; did: string; subject: Subject };

export function sentenceOf(entry: AuditEntry, names: KeyNames): Sentence {
  return { who: actorText(entry.actor, names), ...actOf(entry, names) };
}

/** At the beginning of the sentence. */
function actorText(actor: Actor, names: KeyNames): string {
  const name = actorName(actor, names);
  // Names of users stay as they are.
  const who = actor.user === null ? name.charAt(0).toUpperCase() + name.slice(1) : name;
  return actor.on_behalf_of === null ? who : `${who},`;
}

type Act = Omit<Sentence, 'who'>;

function actOf({ action, target, detail }: AuditEntry, names: KeyNames): Act {
  const text = (name: string): string => textIn(detail[name]);
  const ofContext = (act: string, id = text('context_id')): Act => ({ did: act, subject: { page: 'context', id } });
  const of = (page: 'keys' | 'roles' | 'schedules' | 'webhooks', act: string): Act => ({ did: act, subject: { page } });
  const nothing = (act: string): Act => ({ did: act, subject: null });
  switch (action) {
    case 'key.created':
      return typeof detail['tenant'] === 'string'
        ? nothing(auditWords.keyOfTenantCreated(text('name'), text('scopes'), text('tenant')))
        : of('keys', did[action](text('name'), text('scopes')));
    case 'key.rotated':
      return of('keys', did[action](keyText(target, names)));
    case 'key.revoked':
      return of('keys', did[action](keyText(target, names)));
    case 'token.created':
      return nothing(did[action](text('user'), text('scopes')));
    case 'tokens.revoked':
      return nothing(did[action](target));
    case 'session.started':
      return nothing(did[action](text('address')));
    case 'session.ended':
      return nothing(did[action]());
    case 'tool_call.approved':
      return ofContext(did[action](text('tool')));
    case 'tool_call.denied':
      return ofContext(did[action](text('tool')));
    case 'tool_call.resolved':
      return ofContext(did[action](text('outcome')));
    case 'grant.removed':
      return ofContext(did[action](text('tool')), target);
    case 'role.saved':
      return of('roles', did[action](text('version'), target));
    case 'role.deleted':
      return nothing(did[action](target));
    case 'schedule.created':
      return of('schedules', did[action](text('name')));
    case 'schedule.changed':
      return of('schedules', did[action](text('fields'), shortId(target)));
    case 'schedule.deleted':
      return nothing(did[action](shortId(target)));
    case 'schedule.run':
      return { did: did[action](shortId(target)), subject: { page: 'job', id: text('job_id') } };
    case 'webhook.created':
      return of('webhooks', did[action](text('url')));
    case 'webhook.changed':
      return of('webhooks', did[action](Object.keys(detail).join(', ') || auditWords.nothing, shortId(target)));
    case 'webhook.rotated':
      return of('webhooks', did[action](shortId(target)));
    case 'webhook.disabled':
      return of('webhooks', did[action](shortId(target), text('reason')));
    case 'webhook.deleted':
      return nothing(did[action](shortId(target)));
    case 'job.retried':
      return { did: did[action](shortId(target)), subject: { page: 'job', id: target } };
    case 'config.changed':
      return nothing(did[action](changed(detail), shortId(target)));
    case 'context.imported':
      return ofContext(did[action](shortId(target)), target);
    case 'context.deleted':
      return nothing(did[action](shortId(target)));
    case 'worker.deleted':
      return nothing(did[action](shortId(target)));
    case 'tenant.created':
      return nothing(did[action](target));
    case 'tenant.changed':
      return nothing(did[action](Object.keys(detail).join(', '), target));
    case 'tenant.deleted':
      return nothing(did[action](target));
    case 'throttle.ended':
      return nothing(did[action](text('provider')));
    case 'process.paused':
    case 'process.resumed':
    case 'process.drained':
      return nothing(did[action](shortId(target)));
  }
}

/** The names of the changed settings; of a PUT there are none, because all are replaced. */
function changed({ fields, role }: AuditEntry['detail']): string {
  if (fields === null) return auditWords.allSettings;
  const names = [...(Array.isArray(fields) ? fields : []), ...(role === undefined ? [] : [auditWords.role])];
  return names.length === 0 ? auditWords.settings : names.map(textIn).join(', ');
}

function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.map(textIn).join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–';
}
