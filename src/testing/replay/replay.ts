/** Replays a recorded conversation against changed tools, roles or prompts, without any effect. */
import type { JobId } from '../../core/ids.ts';
import type { Settings, WorkerConfig } from '../../core/workers/settings.ts';
import { ids } from '../../platform/ids.ts';
import type { RoleDefinition } from '../../tools/config/define.ts';
import { abilitiesOf, workerConfigOf, type Abilities } from '../abilities.ts';
import { expectTools } from '../known-tools.ts';
import { VirtualClock } from '../memory/clock.ts';
import { MemoryContext } from '../memory/context.ts';
import { MemoryDurable } from '../memory/durable.ts';
import { Reports } from '../memory/reports.ts';
import { bringToRest } from '../memory/rest.ts';
import { isWithoutEnd, MemoryWorker } from '../memory/worker.ts';
import { toRoleRun, type RoleRun } from '../role-run.ts';
import { emptyContext, newMember, toJob, type RunFor } from '../run-role.ts';
import { modelOf, type SimulatedModel } from '../simulated-model.ts';
import type { StandIns } from '../stand-ins.ts';
import { diffLines } from './diff.ts';
import { readRecording, type RecordedAnswer, type Recording } from './recording.ts';
import { isWithoutResult, recordedModel, recordedPeople, recordedTeam, recordedTools } from './recorded-ports.ts';
import { conversationLines, promptLines } from './texts.ts';

/** What is changed for a replay. */
export type ReplayOptions = RunFor & {
  /** A role of the config in place of the recorded one; null: none. */
  role?: string | null | undefined;
  /** Comes before the recorded config of the worker: `{ system_prompt: '…' }`. */
  worker?: RoleDefinition | undefined;
  /** The config that the recording was made with, to compare prompts with. Default: the same config. */
  against?: object | undefined;
  /** The tools that really run. Default: none; the recorded results are given back. */
  run?: readonly string[] | undefined;
  /** Run in place of tools that are named in `run`. */
  standIns?: StandIns | undefined;
  /** Answers in place of the recorded model. Default: the recorded answers. */
  model?: SimulatedModel | undefined;
};

/** What a replay shows. */
export type Replay = {
  /** Neither the prompt nor the conversation differs. */
  equal: boolean;
  /** Readable; `-` before recorded lines, `+` before those of the replay. Empty: equal. */
  diff: string;
  /** The settings that a prompt begins with: system prompt, tools and their schemas, parameters. */
  prompt: readonly string[];
  /** Messages, calls and their results. */
  conversation: readonly string[];
  /** The last job of the replay. */
  run: RoleRun;
};

/**
 * Plays the export of a context (`GET /api/contexts/{id}/export`, its text or its value) once more with this config: the
 * loop, the schemas, the rules and the approval of the tools are those of now. The model gives its recorded answers, and
 * no tool runs unless `run` names it. A call without a recorded result is not approved: it waits. Throws a `TestKitError` if the config or the recording is not valid.
 */
export async function replay(recorded: string | object, config: object, options: ReplayOptions = {}): Promise<Replay> {
  const recording = readRecording(recorded);
  const role = options.role === undefined ? recording.role : options.role;
  const worker = workerConfigOf(config, options.worker ?? {});
  const given = { standIns: options.standIns ?? {}, recorded: recording.tools };
  const abilities = abilitiesOf(config, given);
  expectTools(abilities.settings, 'run', options.run ?? []);
  expectTools(abilities.settings, 'standIns', Object.keys(given.standIns));
  const settings = resolved(abilities, role, { ...recording.config, ...worker });
  const before = resolved(
    options.against === undefined ? abilities : abilitiesOf(options.against, given),
    recording.role ?? role,
    recording.config,
  );
  const { run, context } = await play(recording, { settings, role, abilities }, options);
  const prompt = diffLines(promptLines(before), promptLines(settings));
  const conversation = diffLines(conversationLines(recording.messages), conversationLines(context.messages));
  const sections = [...section('prompt', prompt), ...section('conversation', conversation)];
  return { equal: sections.length === 0, diff: sections.join('\n'), prompt, conversation, run };
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines];
}

/** Tools that the config no longer has are not offered. Prompts are not compacted, so that all messages are compared. */
function resolved(abilities: Abilities, role: string | null, config: WorkerConfig): Settings {
  const { tools } = config;
  const known = tools?.filter((name) => abilities.registry.get(name, null) !== undefined);
  const settings = abilities.resolve(role, { ...config, ...(known !== undefined && { tools: known }) });
  return { ...settings, compaction: { ...settings.compaction, type: 'none' } };
}

type Played = { settings: Settings; role: string | null; abilities: Abilities };

async function play(recording: Recording, { settings, role, abilities }: Played, options: ReplayOptions) {
  const now = Date.now();
  const clock = new VirtualClock(now);
  const context = new MemoryContext(emptyContext(newMember(role), { kind: 'served', settings }, options));
  const reports = new Reports();
  const durable = new MemoryDurable(new Set(abilities.settings.roles.keys()), null);
  const { results } = recording;
  const run = new Set(options.run);
  const answers: RecordedAnswer[] = [];
  const worker = new MemoryWorker({
    context,
    clock,
    model: options.model === undefined ? recordedModel(answers) : modelOf(options.model, ids),
    tools: recordedTools(abilities.runner, abilities.registry, results, run),
    reports,
    durable,
    people: recordedPeople(results, run),
    team: recordedTeam(results),
    isAtEnd: (waiting) => isWithoutEnd(waiting) || isWithoutResult(waiting, results),
  });
  let last: JobId | null = null;
  for (const { input, answers: given } of recording.jobs) {
    answers.splice(0, answers.length, ...given);
    const job = toJob(input, options, clock.now());
    context.enqueue(job);
    last = job.id;
    await bringToRest(clock, () => [worker]);
  }
  return {
    context,
    run: toRoleRun({ context, reports, durable, tree: null, jobId: last, beganAt: now, endedAt: clock.now() }),
  };
}
