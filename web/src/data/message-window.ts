/**
 * A stretch of a branch's history: what a reader looks at and what lies around it, never all of it. Pure; `messages` go
 * from the oldest to the newest, without a gap.
 */
import type { Message } from 'nightshift/client';

export type MessageWindow = {
  messages: readonly Message[];
  /** There may be more before the first. */
  hasOlder: boolean;
  /** It does not reach to the end of history. */
  hasNewer: boolean;
};

export const EMPTY_WINDOW: MessageWindow = { messages: [], hasOlder: false, hasNewer: false };

/** More are not kept once the reader rests. */
export const MOST_KEPT = 400;

/** A message that was just told of: in its place, or nowhere where the window does not reach so far. */
export function place(window: MessageWindow, message: Message): MessageWindow {
  const { messages, hasOlder, hasNewer } = window;
  if (message.seq === null || message.status !== 'completed') return window;
  const seq = message.seq;
  const known = messages.findIndex(({ id }) => id === message.id);
  if (known !== -1) return { ...window, messages: messages.with(known, message) };
  const at = messages.findLastIndex((one) => (one.seq ?? 0) < seq) + 1;
  const isBeyond = (at === messages.length && hasNewer) || (at === 0 && hasOlder);
  return isBeyond ? window : { ...window, messages: messages.toSpliced(at, 0, message) };
}

export function without(window: MessageWindow, ids: readonly string[]): MessageWindow {
  if (!window.messages.some(({ id }) => ids.includes(id))) return window;
  return { ...window, messages: window.messages.filter(({ id }) => !ids.includes(id)) };
}

/** `older` were read from the first message backwards; `more`: there are others before them. */
export function prepend(window: MessageWindow, older: readonly Message[], more: boolean): MessageWindow {
  const known = new Set(window.messages.map(({ id }) => id));
  const added = historyOf(older).filter(({ id }) => !known.has(id));
  return { ...window, messages: [...added, ...window.messages], hasOlder: more };
}

export function append(window: MessageWindow, newer: readonly Message[], more: boolean): MessageWindow {
  const joined = historyOf(newer).reduce(place, { ...window, hasNewer: false });
  return { ...joined, hasNewer: more };
}

/** What stands from its first message on was read anew, up to the last of `read`; where that is not the end, `more`. */
export function renew(window: MessageWindow, read: readonly Message[], more: boolean): MessageWindow {
  const fresh = historyOf(read);
  const last = fresh.at(-1)?.seq ?? 0;
  // What was told of while it was read.
  const told = window.messages.filter(({ seq }) => (seq ?? 0) > last);
  const isNext = !more || told.length === 0;
  return {
    messages: isNext ? [...fresh, ...told] : fresh,
    hasOlder: window.hasOlder,
    hasNewer: more,
  };
}

export function trimEnd(window: MessageWindow, keep: number): MessageWindow {
  if (window.messages.length <= keep) return window;
  return { ...window, messages: window.messages.slice(0, keep), hasNewer: true };
}

export function trimStart(window: MessageWindow, keep: number): MessageWindow {
  if (window.messages.length <= keep) return window;
  return { ...window, messages: window.messages.slice(-keep), hasOlder: true };
}

/** From the oldest to the newest, however they were read, without what is queued. */
export function historyOf(read: readonly Message[]): Message[] {
  return read.filter(({ seq }) => seq !== null).toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
}
