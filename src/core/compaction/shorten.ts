/**
 * The short form of an old tool result in a prompt: the tool's own summary, otherwise the first characters of the
 * result.
 */
import { textOf, type Block, type ToolResultBlock } from '../conversation/blocks.ts';

/** Characters shown of a result whose tool gave no summary. */
const HEAD = 200;

/** The result unchanged if the short form is not shorter. */
export function shortened(result: ToolResultBlock): ToolResultBlock {
  const content = result.compact_summary ?? byRule(result);
  return content.length < lengthOf(result) ? { ...result, content } : result;
}

export function shortenResults<Kind extends Block>(content: readonly Kind[]): (Kind | ToolResultBlock)[] {
  return content.map((block) => (block.type === 'tool_result' ? shortened(block) : block));
}

function byRule({ content }: ToolResultBlock): string {
  const text = typeof content === 'string' ? content : textOf(content);
  const images = typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'image').length;
  const left = [
    ...(text.length > HEAD ? [`${text.length - HEAD} more characters`] : []),
    ...(images > 0 ? [`${images} ${images === 1 ? 'image' : 'images'}`] : []),
  ].join(' and ');
  const head = text.slice(0, HEAD);
  return left === '' ? head : `${head}… (An old result, shortened: ${left} left out. Call the tool again to see it.)`;
}

function lengthOf({ content }: ToolResultBlock): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : Infinity), 0);
}
