/**
 * A window on the history of a branch around the reader's position, so that a long history is never loaded whole. Pure
 * functions; `messages` are ordered from oldest to newest, without gaps.
 */
import type { ContentBlock, Message, ToolUseBlock } from 'nightshift/client';

export type MessageWindow = {
  messages: readonly Message[];
  /** There may be messages before the first one. */
  hasOlder: boolean;
  /** The window does not reach the end of the history. */
  hasNewer: boolean;
};

export const EMPTY_WINDOW: MessageWindow = { messages: [], hasOlder: false, hasNewer: false };

/** The window is trimmed to this size when scrolling stops. */
export const MOST_KEPT = 400;

/** Inserts or replaces a message of the stream, unless it lies outside the window. */
export function place(window: MessageWindow, message: Message): MessageWindow {
  const { messages, hasOlder, hasNewer } = window;
  if (message.seq === null) return window;
  const seq = message.seq;
  const known = messages.findIndex(({ id }) => id === message.id);
  if (known !== -1) return { ...window, messages: messages.with(known, message) };
  const at = messages.findLastIndex((one) => (one.seq ?? 0) < seq) + 1;
  const isBeyond = (at === messages.length && hasNewer) || (at === 0 && hasOlder);
  return isBeyond ? window : { ...window, messages: messages.toSpliced(at, 0, message) };
}

/** `older` were read backwards from the first message; `more`: there are messages before them. */
export function prepend(window: MessageWindow, older: readonly Message[], more: boolean): MessageWindow {
  const known = new Set(window.messages.map(({ id }) => id));
  const added = historyOf(older).filter(({ id }) => !known.has(id));
  return { ...window, messages: [...added, ...window.messages], hasOlder: more };
}

export function append(window: MessageWindow, newer: readonly Message[], more: boolean): MessageWindow {
  const joined = historyOf(newer).reduce(place, { ...window, hasNewer: false });
  return { ...joined, hasNewer: more };
}

/** Replaces the window by `read`, read again from its first message on; `more`: the history goes on after `read`. */
export function renew(window: MessageWindow, read: readonly Message[], more: boolean): MessageWindow {
  const fresh = historyOf(read);
  const last = fresh.at(-1)?.seq ?? 0;
  // Messages that the stream added during the read.
  const addedMeanwhile = window.messages.filter(({ seq }) => (seq ?? 0) > last);
  const isNext = !more || addedMeanwhile.length === 0;
  return {
    messages: isNext ? [...fresh, ...addedMeanwhile] : fresh,
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

/** Without queued inputs, from oldest to newest. */
export function historyOf(read: readonly Message[]): Message[] {
  return read.filter(({ seq }) => seq !== null).toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
}

export function isCall(block: ContentBlock): block is ToolUseBlock {
  return block.type === 'tool_use';
}
