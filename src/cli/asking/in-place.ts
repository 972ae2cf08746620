/** Prompts for inbox items at the terminal, one after the other. Skips an item that is answered elsewhere meanwhile. */
import { NightshiftError, type Client } from '../../client/index.ts';
import { askLine } from '../terminal/ask-line.ts';
import { safe } from '../terminal/safe.ts';
import type { Screen } from '../terminal/screen.ts';
import { choicesOf, readAnswer, sendAnswer } from './answer.ts';
import { questionOf, titleOf, type Item } from './item.ts';

type InPlace = {
  ask(item: Item, label?: string): void;
  dismiss(toolCallId: string): void;
  /** Resolves after the last prompt. */
  done(): Promise<void>;
  close(): void;
};

export function askInPlace(client: Client, screen: Screen): InPlace {
  const open = new Map<string, AbortController>();
  let last: Promise<void> = Promise.resolve();
  return {
    ask(item, label = '') {
      const over = new AbortController();
      open.set(item.tool_call_id, over);
      last = last.then(async () => {
        if (!over.signal.aborted) await askOne(client, screen, { item, label, signal: over.signal });
        open.delete(item.tool_call_id);
      });
    },
    dismiss: (toolCallId) => open.get(toolCallId)?.abort(),
    done: () => last,
    close() {
      for (const over of open.values()) over.abort();
    },
  };
}

/** Prints an item with its choices. `label`: the name of the child worker that asks. */
export function printItem(screen: Screen, item: Item, label: string): void {
  screen.note(`${screen.sideInk('yellow', '?')} ${label}${screen.sideInk('bold', titleOf(item))}`);
  for (const [at, choice] of (questionOf(item)?.choices ?? []).entries()) screen.note(`    ${at + 1}  ${safe(choice)}`);
}

type Prompt = { item: Item; label: string; signal: AbortSignal };

async function askOne(client: Client, screen: Screen, { item, label, signal }: Prompt): Promise<void> {
  const { sideInk } = screen;
  printItem(screen, item, label);
  for (;;) {
    const line = await askLine(sideInk('dim', `  ${choicesOf(item)}: `), signal);
    if (line === null) return screen.note('');
    const answer = readAnswer(item, line);
    if (answer === 'later') return;
    if (answer === null) continue;
    try {
      const mine = await sendAnswer(client, item, answer);
      return mine ? undefined : screen.note('  It was already answered elsewhere.');
    } catch (error) {
      if (!(error instanceof NightshiftError)) throw error;
      screen.note(`  ${sideInk('red', safe(error.message))}`);
    }
  }
}
