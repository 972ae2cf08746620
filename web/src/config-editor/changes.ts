/** Reads the changed fields of a draft. */
import type { ConfigPatch, Json, WorkerConfig } from 'nightshift/client';
import type { ConfigDraft, ConfigMember } from './draft.ts';
import { FIELDS, type FieldDefinition, type Read } from './fields.ts';

export const CONFIG_MEMBERS = Object.keys(FIELDS) as ConfigMember[];

/** Messages by field. */
export type Faults = { readonly [Member in ConfigMember]?: string };

/** `patch` has the changed fields, with null for an emptied one; it is null if a field cannot be read. */
export type Changes = { patch: ConfigPatch | null; faults: Faults };

export function readChanges(base: ConfigDraft, draft: ConfigDraft): Changes {
  const patch: Record<string, Json> = {};
  const faults: { [Member in ConfigMember]?: string } = {};
  for (const member of CONFIG_MEMBERS) {
    if (isSame(member, base[member], draft[member])) continue;
    const read = readMember(draft, member);
    if (read.kind === 'value') patch[member] = read.value;
    else faults[member] = read.message;
  }
  return { patch: Object.keys(faults).length === 0 ? patch : null, faults };
}

export function withPatch(config: WorkerConfig, patch: ConfigPatch): WorkerConfig {
  return Object.fromEntries(Object.entries({ ...config, ...patch }).filter(([, value]) => value !== null));
}

type Written = ConfigDraft[ConfigMember];

/** Whether two form values mean the same. */
export function isSame(member: ConfigMember | 'title', one: Written, other: Written): boolean {
  return JSON.stringify(one) === JSON.stringify(other) || (isUnset(member, one) && isUnset(member, other));
}

/** Whether a form value stands for no own value. Only an empty system prompt is a text of its own. */
export function isUnset(member: ConfigMember | 'title', written: Written): boolean {
  return written === null || (typeof written === 'string' && written.trim() === '' && member !== 'system_prompt');
}

function readMember<Member extends ConfigMember>(draft: ConfigDraft, member: Member): Read {
  const written: ConfigDraft[Member] = draft[member];
  const { read }: FieldDefinition<ConfigDraft[Member]> = FIELDS[member];
  return written === null || isUnset(member, written) ? { kind: 'value', value: null } : read(written);
}
