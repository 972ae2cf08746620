/** Streams an answer to stdout. Text already written is not repeated. */
import { textMaker, type ContentBlock, type Message, type StreamEvent } from '../../client/index.ts';
import { safe } from '../terminal/safe.ts';
import type { Screen } from '../terminal/screen.ts';

export type AnswerText = {
  receive(event: StreamEvent): void;
  /** A message is complete: writes the rest of it. */
  complete(message: Pick<Message, 'id' | 'content'>): void;
};

type Shown = { messageId: string; text: string; thinking: string };

export function answerText(screen: Screen, showThinking: boolean): AnswerText {
  const take = textMaker();
  let shown: Shown = { messageId: '', text: '', thinking: '' };

  const turnTo = (messageId: string): void => {
    if (shown.messageId === messageId) return;
    endLine();
    shown = { messageId, text: '', thinking: '' };
  };
  const endLine = (): void => {
    if (shown.text !== '' && !shown.text.endsWith('\n')) screen.out('\n');
  };
  const write = (text: string): void => {
    if (!text.startsWith(shown.text)) {
      endLine();
      screen.note(screen.sideInk('dim', '↻ the answer restarts'));
      shown.text = '';
    }
    screen.out(safe(text.slice(shown.text.length)));
    shown.text = text;
  };
  const think = (thinking: string): void => {
    if (!thinking.startsWith(shown.thinking)) shown.thinking = '';
    const lines = thinking.slice(shown.thinking.length).split('\n');
    // Only complete lines, because stderr is written line by line.
    for (const line of lines.slice(0, -1)) screen.note(screen.sideInk('dim', `  ${safe(line)}`));
    shown.thinking = thinking.slice(0, thinking.length - (lines.at(-1) ?? '').length);
  };

  return {
    receive(event) {
      const partial = take(event);
      if (partial === null) return;
      turnTo(partial.message_id);
      if (showThinking && partial.thinking !== '') think(partial.thinking + (partial.text === '' ? '' : '\n'));
      write(partial.text);
    },
    complete({ id, content }) {
      const text = textOf(content);
      const thinking = content.flatMap((block) => (block.type === 'thinking' ? [block.text] : [])).join('');
      if (text === '' && thinking === '' && shown.messageId !== id) return;
      turnTo(id);
      if (showThinking && thinking !== '') think(`${thinking}\n`);
      write(text);
      endLine();
      shown = { messageId: '', text: '', thinking: '' };
    },
  };
}

/** The text blocks of a message, joined. */
export function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}
