/**
 * Result blocks of a tool. An unsupported image would make every later model call of the conversation fail, so it is
 * replaced by a note. The text limit applies to all blocks together.
 */
import type { ImageBlock, ResultPart, Source, TextBlock } from '../../core/conversation/blocks.ts';
import type { Hide } from '../packages/hide.ts';
import { cutNote, headOf } from './truncate.ts';

/** The image types that every provider accepts. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Characters of base64 in one result: 5 MB of image. */
export const IMAGE_LIMIT = 7_000_000;

/** Images in one result. */
export const MOST_IMAGES = 20;

/** Null: not a list of text and image blocks. */
export function parseParts(value: unknown): ResultPart[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  // Unlike `map`, it does not skip holes.
  const parts = Array.from<unknown, ResultPart | null>(value, (item) => parsePart(item));
  return parts.every((part) => part !== null) ? parts : null;
}

/** Applies the limits. Returns '' if no block is left, because providers refuse empty text. */
export function boundedParts(parts: readonly ResultPart[], limit: number): string | ResultPart[] {
  const bounded = [...withinTextLimit(withinImageLimit(parts), limit)];
  return bounded.length === 0 ? '' : bounded;
}

/** Of an image only the URL can hold a secret. Without the secret the URL leads nowhere. */
export function hiddenParts(parts: readonly ResultPart[], hide: Hide): ResultPart[] {
  return parts.map((part) => {
    if (part.type === 'text') return text(hide(part.text));
    const { source } = part;
    return source.type === 'url' && hide(source.url) !== source.url ? leftOut('its URL contains a secret') : part;
  });
}

function parsePart(value: unknown): ResultPart | null {
  if (typeof value !== 'object' || value === null || !('type' in value)) return null;
  if (value.type === 'text' && 'text' in value && typeof value.text === 'string') return text(value.text);
  if (value.type !== 'image' || !('source' in value)) return null;
  const source = parseSource(value.source);
  if (source === null) return null;
  const fault = faultOf(source);
  return fault === null ? { type: 'image', source } : leftOut(fault);
}

function parseSource(value: unknown): Source | null {
  if (typeof value !== 'object' || value === null || !('type' in value)) return null;
  if (value.type === 'url' && 'url' in value && typeof value.url === 'string') {
    return { type: 'url', url: value.url };
  }
  if (value.type !== 'base64' || !('data' in value) || !('media_type' in value)) return null;
  const { data, media_type } = value;
  return typeof data === 'string' && typeof media_type === 'string' ? { type: 'base64', media_type, data } : null;
}

function faultOf(source: Source): string | null {
  switch (source.type) {
    case 'url':
      return /^https?:\/\//.test(source.url) && URL.canParse(source.url) ? null : 'its URL is not an http or https URL';
    case 'base64':
      if (!IMAGE_TYPES.includes(source.media_type)) return `its type is not one of ${IMAGE_TYPES.join(', ')}`;
      if (source.data.length > IMAGE_LIMIT) return `it has more than ${IMAGE_LIMIT} characters of base64`;
      return /^[A-Za-z0-9+/]+={0,2}$/.test(source.data) ? null : 'its data is not base64';
  }
}

function* withinImageLimit(parts: readonly ResultPart[]): Generator<ResultPart> {
  let images = 0;
  let left = IMAGE_LIMIT;
  for (const part of parts) {
    if (part.type === 'text') {
      yield part;
      continue;
    }
    const size = sizeOf(part);
    if (images === MOST_IMAGES || size > left) {
      yield leftOut(`a result may contain at most ${MOST_IMAGES} images and ${IMAGE_LIMIT} characters of base64`);
      continue;
    }
    images += 1;
    left -= size;
    yield part;
  }
}

function* withinTextLimit(parts: Iterable<ResultPart>, limit: number): Generator<ResultPart> {
  let shown = 0;
  let total = 0;
  for (const part of parts) {
    if (part.type === 'image') {
      yield part;
      continue;
    }
    // Text after a cut is omitted entirely.
    const head = total > shown ? '' : headOf(part.text, limit - shown);
    shown += head.length;
    total += part.text.length;
    if (head !== '') yield text(head);
  }
  if (total > shown) yield text(cutNote(total - shown, total));
}

function sizeOf({ source }: ImageBlock): number {
  return source.type === 'base64' ? source.data.length : source.url.length;
}

function text(content: string): TextBlock {
  return { type: 'text', text: content };
}

function leftOut(why: string): TextBlock {
  return text(`(An image was omitted: ${why}.)`);
}
