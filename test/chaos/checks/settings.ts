// Settings: each version was written once, over the one that its writer had read, and the last one is stored; models
// and plans are those of some version.
import { groupBy, type Check, type Setting, type Violation } from '../world/world.ts';
import type { Config, StoredContext, StoredMessage } from '../world/stored.ts';
import { CONFIG } from '../clients/settings.ts';
import { reporter } from './violation.ts';

const violation = reporter('settings');

export const settings: Check = {
  name: 'settings',
  find(world) {
    const written = groupBy(world.settings, ({ contextId }) => contextId);
    const answers = groupBy(
      world.messages.filter(({ role, type, seq }) => role === 'assistant' && type !== 'partial' && seq !== null),
      ({ context_id: id }) => id,
    );
    // A remembered denial is a rule of the config; a remembered approval is none.
    const remembered = groupBy(
      world.decisions.filter(
        ({ remember, decision, outcome }) => remember && decision === 'deny' && outcome.kind === 'taken',
      ),
      ({ contextId }) => contextId,
    );
    const contexts = new Map(world.contexts.map((context) => [context.id, context]));
    return world.contexts.flatMap((context) => {
      const taken = (id: string): Setting[] => (written.get(id) ?? []).filter(({ version }) => version !== null);
      const list = taken(context.id);
      // A worker made by another has the settings that its parent had then, and no client changes them.
      const source = context.parent_context_id === null ? list : taken(topOf(context, contexts));
      return [
        ...versionFaults(context, list, remembered.get(context.id)?.length ?? 0),
        ...(context.parent_context_id === null ? configFaults(context, list) : []),
        ...(answers.get(context.id) ?? []).flatMap((answer) => answerFaults(answer, source)),
      ];
    });
  },
};

function topOf({ id, parent_context_id: above }: StoredContext, contexts: ReadonlyMap<string, StoredContext>): string {
  const parent = contexts.get(above ?? '');
  return parent === undefined ? id : topOf(parent, contexts);
}

/** `rules`: remembered denials, each a version. */
function versionFaults({ id, version }: StoredContext, written: readonly Setting[], rules: number): Violation[] {
  const leaps = written.filter((one) => one.version !== one.seen + 1);
  const twice = [...groupBy(written, (one) => String(one.version)).values()].filter(({ length }) => length > 1);
  return [
    ...leaps.map((one) => violation(`version ${one.version} was written over ${one.seen}`, id, one.key)),
    ...twice.map((list) => violation('one version was written twice', id, ...list.map(({ key }) => key))),
    ...(version === written.length + 1 + rules
      ? []
      : [violation(`it is version ${version}, ${written.length + rules} changes were taken`, id)]),
  ];
}

/** One after the other, they give the stored settings. */
function configFaults({ id, config }: StoredContext, written: readonly Setting[]): Violation[] {
  const wanted = written
    .toSorted((a, b) => (a.version ?? 0) - (b.version ?? 0))
    .reduce<Config>((before, one) => (one.whole ? one.config : { ...before, ...one.config }), CONFIG);
  // Rules on approval are remembered denials.
  const { approval: _, ...own } = config;
  return canonical(own) === canonical(wanted)
    ? []
    : [violation(`the settings are ${canonical(config)}, written was ${canonical(wanted)}`, id)];
}

function answerFaults(answer: StoredMessage, written: readonly Setting[]): Violation[] {
  const models = [CONFIG, ...written.map(({ config }) => config)].flatMap((config: Config) =>
    'model' in config ? [String(config['model'])] : [],
  );
  const { id, context_id: context, model_id: model, type } = answer;
  return [
    ...(models.includes(`simulated/${model}`)
      ? []
      : [violation(`${model} answered, which was never set`, context, id)]),
    ...(type === 'plan' && !written.some(({ config }) => config['mode'] === 'plan')
      ? [violation('a plan, and no client asked for plans', context, id)]
      : []),
  ];
}

function canonical(config: Config): string {
  return JSON.stringify(Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1)));
}
