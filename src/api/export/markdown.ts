/** Writes a conversation as Markdown: turns under headings, tool calls and results folded. */
import type { Block, ResultPart } from '../../core/conversation/blocks.ts';
import type { StoredContext, StoredMessage } from '../../db/read/messages/export.ts';
import { toIso } from '../request/instant.ts';

/** `pages`: the current history of the branch. */
export async function* markdownOf(
  { title, activeBranch, worker, createdAt }: StoredContext,
  pages: AsyncIterable<StoredMessage[]>,
): AsyncGenerator<string> {
  yield `# ${oneLine(title ?? worker.name)}\n\n${toIso(createdAt)}, branch ${oneLine(activeBranch)}\n`;
  let heading = '';
  for await (const page of pages) {
    for (const message of page) {
      const next = headingOf(message);
      const body = message.content.map(toText).filter((text) => text !== '');
      yield [...(next === heading ? [] : [next]), ...body].map((text) => `\n${text}\n`).join('');
      heading = next;
    }
  }
}

function headingOf({ turn, role }: StoredMessage): string {
  switch (role) {
    case 'user':
      return `## ${turn} · user`;
    case 'assistant':
    case 'tool':
      return `## ${turn} · assistant`;
    case 'system':
      return `## note`;
  }
}

function toText(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'thinking':
      return block.text === '' ? '' : folded('Thinking', fenced(block.text, ''));
    case 'tool_use':
      return folded(`Tool call: ${block.name}`, fenced(JSON.stringify(block.input, null, 2), 'json'));
    case 'tool_result': {
      const text = typeof block.content === 'string' ? block.content : block.content.map(partText).join('\n');
      return folded(block.is_error ? 'Result (error)' : 'Result', fenced(text, ''));
    }
    case 'image':
      return '*(an image)*';
    case 'document':
      return `*(a document${block.title === undefined ? '' : `: ${oneLine(block.title)}`})*`;
  }
}

function partText(part: ResultPart): string {
  return part.type === 'text' ? part.text : '(an image)';
}

function folded(summary: string, text: string): string {
  const escaped = oneLine(summary).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<details><summary>${escaped}</summary>\n\n${text}\n\n</details>`;
}

/** Uses a fence that is longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
