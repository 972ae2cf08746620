/** The filter of the audit log in the address. */
import type { Zone } from '../../../ui/state/zone.ts';
import type { AuditEntry } from 'nightshift/client';
import { spanOf } from '../../../data/days.ts';
import type { AuditFilter } from '../../../data/query/keys.ts';
import type { Scope } from '../../../data/query/session.ts';
import { auditWords } from '../../../words.ts';

export type AuditSearch = { actor?: string; action?: string; target?: string; from?: string; to?: string };
type Action = AuditEntry['action'];

const LABELS = auditWords.filters.actions;

type ActionOption = { value: Action; label: string };

const ALL = (Object.keys(LABELS) as Action[]).map((value): ActionOption => ({ value, label: LABELS[value] }));

/** In the log of the installation only. */
const OF_OPERATOR_ALONE: readonly Action[] = [
  'tenant.created',
  'tenant.changed',
  'tenant.deleted',
  'throttle.ended',
  'process.paused',
  'process.resumed',
  'process.drained',
];
/** In the log of the installation. */
const OF_INSTALLATION: readonly Action[] = [...OF_OPERATOR_ALONE, 'key.created', 'session.started', 'session.ended'];

/** The actions in the log that a session with these scopes reads. */
export function actionOptions(scopes: readonly Scope[]): readonly ActionOption[] {
  const ofTenant = scopes.includes('keys');
  if (!scopes.includes('operator')) return ALL.filter(({ value }) => !OF_OPERATOR_ALONE.includes(value));
  return ofTenant ? ALL : ALL.filter(({ value }) => OF_INSTALLATION.includes(value));
}

/** Ignores an action that does not exist. */
export function toFilter({ actor, action, target, from, to }: AuditSearch, zone: Zone): AuditFilter {
  const { created_after: after, created_before: before } = spanOf(from, to, zone);
  const known = ALL.find(({ value }) => value === action)?.value;
  return {
    ...(actor !== undefined && { actor }),
    ...(known !== undefined && { action: known }),
    ...(target !== undefined && { target }),
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
  };
}
