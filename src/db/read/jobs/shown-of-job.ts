/** What a job shows of its worker and its input, so that clients need not read these. */

/** `model`: as its config or its API role names it; null: neither does. `ofFile`: its role is one of the config file. */
export type WorkerOfJob = {
  name: string;
  title: string | null;
  role: string | null;
  model: string | null;
  ofFile: boolean;
};

/** UTF-16 units of the text of an input. */
export const SHOWN_INPUT = 200;
