// What the clients of a run know together, and what each of them acts with.
import type { Asker } from './ask.ts';
import type { Dice } from '../random.ts';
import type {
  Change,
  Compact,
  Interrupt,
  Posted,
  Reply,
  Setting,
  Sighting,
  Stop,
  World,
} from '../world/world.ts';

export type Crowd = {
  contexts: string[];
  inputs: Posted[];
  sightings: Sighting[];
  interrupts: Interrupt[];
  stops: Stop[];
  replies: Reply[];
  changes: Change[];
  settings: Setting[];
  compacts: Compact[];
  repeats: World['repeats'];
  /** Contexts of which somebody cancelled all that there was. */
  sweeps: string[];
  /** From the first request to the 202, in milliseconds. */
  acceptMs: number[];
  /** What goes on beside: whoever asked for a question attends to it. */
  followUps: Promise<void>[];
  /** Resolves once every client is done with all it began. */
  done: Promise<void>;
};

export type Client = { ask: Asker; dice: Dice; crowd: Crowd };
