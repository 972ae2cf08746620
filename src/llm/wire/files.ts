/** Images and documents as OpenAI's formats take them: an address, which may hold the data itself. */
import type { DocumentBlock, Source } from '../../core/blocks.ts';

export function dataURL(source: Source): string {
  return source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
}

/** The provider goes by the ending. */
export function fileName(block: DocumentBlock): string {
  if (block.title !== undefined && /\.\w+$/.test(block.title)) return block.title;
  const ending =
    block.source.type === 'base64' && block.source.media_type.startsWith('text/') ? 'txt' : 'pdf';
  return `${block.title ?? 'document'}.${ending}`;
}
