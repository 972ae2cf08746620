/** Shared by complete chat messages and their chunks: the reasoning field, and text that may come in parts. */
import { isJsonObject, type Json } from '../../core/json.ts';
import { stringIn } from '../wire/answer/json.ts';

export const OPENAI_CHAT = 'openai-chat';

/** Servers use either name; the first one present is shown, and sent back under the same name. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const;

export function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isJsonObject(part) ? stringIn(part, 'text') : '')).join('');
}
