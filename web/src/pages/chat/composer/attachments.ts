/** Attachments of an input: images and PDFs, converted to content blocks. */
import type { InputBlock } from 'nightshift/client';
import { composerWords } from '../../../words.ts';

export type Attached = { name: string; block: InputBlock; bytes: number };

/** The API limits a request to 16 MB, and base64 adds a third. */
export const MOST_BYTES = 11_000_000;

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export const ACCEPTED = [...IMAGES, 'application/pdf'].join(',');

/** Null if the API does not accept this file type. */
export async function attach(file: File): Promise<Attached | null> {
  const image = IMAGES.find((type) => type === file.type);
  if (image === undefined && file.type !== 'application/pdf') return null;
  const data = await toBase64(file);
  const block: InputBlock =
    image === undefined
      ? { type: 'document', title: file.name, source: { type: 'base64', media_type: file.type, data } }
      : { type: 'image', source: { type: 'base64', media_type: image, data } };
  return { name: file.name, block, bytes: file.size };
}

async function toBase64(file: File): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(typeof reader.result === 'string' ? reader.result : ''));
    reader.addEventListener('error', () => reject(reader.error ?? new Error(composerWords.attachments.unreadable)));
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(',') + 1);
}
