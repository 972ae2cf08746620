/** What applies to the fields of a config, as form values, and where each comes from. */
import type { EffectiveSettings, WorkerConfig } from 'nightshift/client';
import { configWords } from '../words.ts';
import { toConfigDraft, type ConfigDraft, type ConfigMember } from './draft.ts';

/** Fields whose own value replaces an inherited one. Rules are added to those of the role; of limits the lowest counts. */
export type Replaceable = Exclude<ConfigMember, 'approval' | 'limits'>;

/** `role`: that of the worker; null: it has none, or the role itself is edited. */
export type EffectiveOf = { settings: EffectiveSettings; role: string | null };

/** A field with the text about its source. */
export type Applied<Member extends Replaceable> = { written: ConfigDraft[Member]; from: string };

export type Source = EffectiveSettings['model']['source'];

type Setting<Value> = { value: Value; source: Source; inherited: { value: Value; source: Source } | null };

/** Whether nothing applies: an empty list, no limit, any text. */
export function isNothing(written: ConfigDraft[Replaceable]): boolean {
  return written === null || written.length === 0 || written === '[]' || written === '{}';
}

export function sourceText(source: Source, role: string | null): string {
  return source === 'role' && role !== null ? configWords.ofRole(role) : configWords.sources[source];
}

/** What applies without an own value. */
export function inheritedOf<Member extends Replaceable>(
  { settings, role }: EffectiveOf,
  member: Member,
): Applied<Member> {
  const { source } = settings[member].inherited ?? settings[member];
  const config = configOf(settings, (setting) => (setting.inherited ?? setting).value);
  return { written: toConfigDraft(config)[member], from: sourceText(source, role) };
}

/** What applies now. */
export function appliedOf<Member extends Replaceable>(
  { settings, role }: EffectiveOf,
  member: Member,
): Applied<Member> {
  const config = configOf(settings, ({ value }) => value);
  return { written: toConfigDraft(config)[member], from: sourceText(settings[member].source, role) };
}

/** `valueOf`: which of the values of a setting. Those that are null are not set. */
function configOf(settings: EffectiveSettings, valueOf: <Value>(setting: Setting<Value>) => Value): WorkerConfig {
  const { model, ...compaction } = valueOf(settings.compaction);
  const maxTokens = valueOf(settings.max_tokens);
  const outputSchema = valueOf(settings.output_schema);
  const idleTimeout = valueOf(settings.idle_timeout_s);
  return {
    model: valueOf(settings.model),
    streaming: valueOf(settings.streaming),
    system_prompt: valueOf(settings.system_prompt),
    mode: valueOf(settings.mode),
    tools: valueOf(settings.tools),
    client_tools: valueOf(settings.client_tools),
    mcp_servers: valueOf(settings.mcp_servers),
    context_limit: valueOf(settings.context_limit),
    compaction: { ...compaction, ...(model !== null && { model }) },
    pinned: valueOf(settings.pinned),
    max_steps: valueOf(settings.max_steps),
    output_retries: valueOf(settings.output_retries),
    parameters: valueOf(settings.parameters),
    ...(maxTokens !== null && { max_tokens: maxTokens }),
    ...(outputSchema !== null && { output_schema: outputSchema }),
    ...(idleTimeout !== null && { idle_timeout_s: idleTimeout }),
  };
}

/** An own list that was emptied; null: nothing is inherited either, so that it is simply not set. */
export function orUnset<Item>(
  { effective }: { effective: EffectiveOf | null },
  member: 'tools' | 'mcp_servers' | 'pinned',
  list: Item[],
): Item[] | null {
  const inherited = effective === null ? null : inheritedOf(effective, member).written;
  return list.length === 0 && isNothing(inherited) ? null : list;
}

export function isList(member: Replaceable): member is 'tools' | 'mcp_servers' | 'pinned' {
  return member === 'tools' || member === 'mcp_servers' || member === 'pinned';
}
