/** Sentences for the entries of the audit log: who did what. Pure functions. */
import type { Actor, AuditEntry } from 'nightshift/client';
import { actorName, keyText, type KeyNames } from '../../../data/actors.ts';
import { shortId } from '../../../data/format.ts';

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
  const ofContext = (did: string, id = text('context_id')): Act => ({ did, subject: { page: 'context', id } });
  const of = (page: 'keys' | 'roles' | 'schedules' | 'webhooks', did: string): Act => ({ did, subject: { page } });
  const nothing = (did: string): Act => ({ did, subject: null });
  switch (action) {
    case 'key.created':
      return typeof detail['tenant'] === 'string'
        ? nothing(`created the API key ${text('name')} (${text('scopes')}) for the tenant ${text('tenant')}`)
        : of('keys', `created the API key ${text('name')} (${text('scopes')})`);
    case 'key.rotated':
      return of('keys', `rotated the ${keyText(target, names)}`);
    case 'key.revoked':
      return of('keys', `revoked the ${keyText(target, names)}`);
    case 'token.created':
      return nothing(`created a token for ${text('user')} (${text('scopes')})`);
    case 'tokens.revoked':
      return nothing(`revoked the tokens of ${target}`);
    case 'session.started':
      return nothing(`signed in from ${text('address')}`);
    case 'session.ended':
      return nothing('signed out');
    case 'tool_call.approved':
      return ofContext(`approved a call of ${text('tool')}`);
    case 'tool_call.denied':
      return ofContext(`denied a call of ${text('tool')}`);
    case 'tool_call.resolved':
      return ofContext(`resolved a tool call with an unknown outcome as ${text('outcome')}`);
    case 'grant.removed':
      return ofContext(`removed the grant for ${text('tool')}`, target);
    case 'role.saved':
      return of('roles', `saved version ${text('version')} of the role ${target}`);
    case 'role.deleted':
      return nothing(`deleted the role ${target}`);
    case 'schedule.created':
      return of('schedules', `created the schedule ${text('name')}`);
    case 'schedule.changed':
      return of('schedules', `changed ${text('fields')} of the schedule ${shortId(target)}`);
    case 'schedule.deleted':
      return nothing(`deleted the schedule ${shortId(target)}`);
    case 'schedule.run':
      return { did: `ran the schedule ${shortId(target)}`, subject: { page: 'job', id: text('job_id') } };
    case 'webhook.created':
      return of('webhooks', `created a webhook to ${text('url')}`);
    case 'webhook.changed':
      return of('webhooks', `changed ${Object.keys(detail).join(', ') || 'nothing'} of the webhook ${shortId(target)}`);
    case 'webhook.rotated':
      return of('webhooks', `rotated the secret of the webhook ${shortId(target)}`);
    case 'webhook.disabled':
      return of('webhooks', `disabled the webhook ${shortId(target)}: ${text('reason')}`);
    case 'webhook.deleted':
      return nothing(`deleted the webhook ${shortId(target)}`);
    case 'config.changed':
      return nothing(`changed ${changed(detail)} of the worker or context ${shortId(target)}`);
    case 'context.imported':
      return ofContext(`imported the context ${shortId(target)}`, target);
    case 'context.deleted':
      return nothing(`deleted the context ${shortId(target)}`);
    case 'worker.deleted':
      return nothing(`deleted the worker ${shortId(target)}`);
    case 'tenant.created':
      return nothing(`created the tenant ${target}`);
    case 'tenant.changed':
      return nothing(`changed ${Object.keys(detail).join(', ')} of the tenant ${target}`);
    case 'tenant.deleted':
      return nothing(`deleted the tenant ${target}`);
    case 'throttle.ended':
      return nothing(`ended throttles of ${text('provider')}`);
  }
}

/** The names of the changed settings; of a PUT there are none, because all are replaced. */
function changed({ fields, role }: AuditEntry['detail']): string {
  if (fields === null) return 'all settings';
  const names = [...(Array.isArray(fields) ? fields : []), ...(role === undefined ? [] : ['role'])];
  return names.length === 0 ? 'settings' : names.map(textIn).join(', ');
}

function textIn(value: unknown): string {
  if (Array.isArray(value)) return value.map(textIn).join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–';
}
