// The shared state of the clients of a run, and the tools of each.
import type { Asker } from './requests.ts';
import type { Random } from '../random.ts';
import type { Change, Compact, Interrupt, Posted, Reply, Setting, Sighting, Stop, World } from '../world/world.ts';

export type Crowd = {
  contexts: string[];
  /** The webhook that inputs name. */
  webhook: string;
  inputs: Posted[];
  sightings: Sighting[];
  interrupts: Interrupt[];
  stops: Stop[];
  replies: Reply[];
  changes: Change[];
  settings: Setting[];
  compacts: Compact[];
  repeats: World['repeats'];
  /** Contexts in which a client cancelled all jobs. */
  sweeps: string[];
  /** From the first request to the 202, in milliseconds. */
  acceptMs: number[];
  /** Background work: answering questions. */
  followUps: Promise<void>[];
  /** Resolves once every client has finished all its actions. */
  done: Promise<void>;
};

export type Client = { ask: Asker; random: Random; crowd: Crowd };
