// The model call that is sent while its claim is being committed: its output is published only after the commit.
import { afterEach, expect, test } from 'vitest';
import { RunSignals } from '../../../src/agent/run-signals.ts';
import { callEarly } from '../../../src/workers/run/claim-and-call.ts';
import type { AnswerListener } from '../../../src/agent/run.ts';
import type { Access } from '../../../src/core/run/throttle.ts';
import type { Model, ModelListener } from '../../../src/core/model/model.ts';
import type { Snapshot } from '../../../src/core/run/snapshot.ts';
import { tagOf } from '../../services/statements.ts';
import { aborted, says, startFleet, transcript, type Fleet } from '../worker-fleet.ts';
import { NOW, fingerprint, given, job, queuedInput, running, snapshot } from '../../core/builders.ts';

/** A model that the test controls. */
class Led implements Model {
  isReady = true;
  readonly calls: { listener: ModelListener; signal: AbortSignal; end(): void }[] = [];

  isLoaded: Model['isLoaded'] = () => this.isReady;

  call: Model['call'] = (_request, listener, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ kind: 'aborted' }));
      this.calls.push({ listener, signal, end: () => resolve({ kind: 'done', answer: given() }) });
    });
}

function setUp(of: Snapshot = running(), access?: Access) {
  const model = new Led();
  const signals = new RunSignals();
  const ports = {
    clock: { now: () => NOW },
    fingerprint: () => fingerprint(),
    log: { step: () => undefined, stepped: () => undefined, prompt: () => undefined, retry: () => undefined },
    model: (): Access => access ?? { kind: 'open', model },
  };
  return { model, signals, of, begin: () => callEarly(ports, signals, of) };
}

function listening() {
  const received: string[] = [];
  const listener: AnswerListener = {
    started: () => received.push('started'),
    text: (delta) => received.push(delta),
    thinking: (delta) => received.push(`(${delta})`),
    ended: (isWhole) => received.push(isWhole ? 'whole' : 'broken'),
  };
  return { received, listener };
}

test('the run that adopts it receives its output from the beginning, in order, and then live', async () => {
  const { model, of, begin } = setUp();
  const early = begin();
  const [call] = model.calls;
  call?.listener.started();
  call?.listener.thinking('hm');
  call?.listener.text('a');
  const { received, listener } = listening();
  const taken = early?.take(of, listener);
  call?.listener.text('b');
  expect(received).toEqual(['started', '(hm)', 'a', 'b']);
  call?.end();
  expect(await taken?.outcome).toMatchObject({ kind: 'done' });
  expect(taken?.times()).toEqual({ calledAt: NOW, firstByteAt: NOW });
  early?.drop();
  expect(call?.signal.aborted).toBe(false);
});

test('a call that no run adopts is stopped, and its output is never published', async () => {
  const { model, of, begin } = setUp();
  const early = begin();
  const { received, listener } = listening();
  expect(early?.take({ ...of }, listener)).toBeNull();
  early?.drop();
  expect(model.calls[0]?.signal.aborted).toBe(true);
  expect(received).toEqual([]);
});

test('it is adopted once', () => {
  const { of, begin } = setUp();
  const early = begin();
  expect(early?.take(of, listening().listener)).not.toBeNull();
  expect(early?.take(of, listening().listener)).toBeNull();
});

test('it ends like any other call when a control signal arrives', async () => {
  const { signals, of, begin } = setUp();
  const taken = begin()?.take(of, listening().listener);
  signals.notify();
  expect(await taken?.outcome).toEqual({ kind: 'aborted' });
});

test.each<[string, Snapshot]>([
  ['nothing is under way', snapshot()],
  ['an input is still to be admitted', snapshot({ next: queuedInput(), queued: 1 })],
  ['the model is called later', running({ job: job({ retryAt: NOW + 5 }) })],
  ['this process cannot serve it', running({ serving: { kind: 'unsupported', missing: ['m'] } })],
])('no call is made where %s', (_, of) => {
  const { model, begin } = setUp(of);
  expect(begin()).toBeNull();
  expect(model.calls).toEqual([]);
});

test('no call is made by a process that is leaving, that received a control signal, or whose key is throttled', () => {
  const leaving = setUp();
  leaving.signals.leave();
  expect(leaving.begin()).toBeNull();
  const calledUp = setUp();
  calledUp.signals.notify();
  expect(calledUp.begin()).toBeNull();
  const throttled = setUp(running(), {
    kind: 'throttled',
    throttle: { id: 't', provider: 'simulated', model: 'm', reason: 'rate_limited', until: NOW + 1 },
    comeAgainAt: () => NOW + 1,
    turn: async () => false,
  });
  expect(throttled.begin()).toBeNull();
});

test('no call is made where the SDK of the provider is not loaded yet: that would block the open transaction', () => {
  const { model, begin } = setUp();
  model.isReady = false;
  expect(begin()).toBeNull();
  expect(model.calls).toEqual([]);
});

let fleet: Fleet | null = null;
afterEach(async () => {
  await fleet?.close();
  fleet = null;
});

test('if the commit of a claim fails, its model call is aborted; the claim that is sent again calls the model again', async () => {
  const calls: AbortSignal[] = [];
  const abortedBefore: boolean[] = [];
  let failures = 0;
  fleet = await startFleet({
    async model(_, signal) {
      abortedBefore.push(calls.every((call) => call.aborted));
      calls.push(signal);
      if (calls.length > 1) return says('from the second call');
      await aborted(signal);
      return { kind: 'aborted' };
    },
    hook(text) {
      if (tagOf(text) !== 'contexts.append' || failures > 0) return;
      failures += 1;
      throw new Error('The commit fails.');
    },
  });
  const { contextId } = await fleet.createContext();
  const { jobId } = await fleet.post(contextId, 'hi');
  expect(await fleet.ended(jobId)).toMatchObject({ status: 'completed', attempt: 1 });
  expect(failures).toBe(1);
  // Both calls began, the second one after the first was aborted.
  expect(abortedBefore).toEqual([true, true]);
  expect(transcript(await fleet.history(contextId)).join()).toContain('from the second call');
});
