/** Images and documents in OpenAI's formats: a URL, which may be a data URL. */
import type { DocumentBlock, Source } from '../../../core/conversation/blocks.ts';

export function dataURL(source: Source): string {
  return source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
}

/** The provider uses the file extension. */
export function fileName(block: DocumentBlock): string {
  if (block.title !== undefined && /\.\w+$/.test(block.title)) return block.title;
  const ending = block.source.type === 'base64' && block.source.media_type.startsWith('text/') ? 'txt' : 'pdf';
  return `${block.title ?? 'document'}.${ending}`;
}
