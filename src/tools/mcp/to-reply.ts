/** What an MCP tool gave back, as a reply of ours: text and images; what a model cannot take is told in a line. */
import type { CallToolResult, ContentBlock, EmbeddedResource } from '@modelcontextprotocol/sdk/types.js';
import type { ResultPart } from '../../core/blocks.ts';
import type { ToolReply } from '../define.ts';

/** The runner keeps it within the limits of a result. */
export function toReply({ content, structuredContent, isError }: CallToolResult): ToolReply {
  const parts = content.map(toPart);
  const hasContent = parts.some((part) => part.type !== 'text' || part.text !== '');
  // Structured content repeats what the text says, where there is any.
  if (hasContent) return { content: parts, is_error: isError ?? false };
  const text = structuredContent === undefined ? '' : JSON.stringify(structuredContent);
  return { content: text, is_error: isError ?? false };
}

function toPart(block: ContentBlock): ResultPart {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return image(block.mimeType, block.data);
    case 'audio':
      return text(`(Audio of type ${block.mimeType} was left out.)`);
    case 'resource_link':
      return text(`Resource ${block.uri}: ${[block.name, block.description].filter(Boolean).join(': ')}`);
    case 'resource':
      return embedded(block.resource);
  }
}

function embedded(resource: EmbeddedResource['resource']): ResultPart {
  if ('text' in resource) return text(`Resource ${resource.uri}:\n${resource.text}`);
  const type = resource.mimeType ?? 'unknown type';
  return type.startsWith('image/')
    ? image(type, resource.blob)
    : text(`(Resource ${resource.uri} of ${type} was left out.)`);
}

/** One that no model takes is left out by the runner, with a note. */
function image(mediaType: string, data: string): ResultPart {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

function text(words: string): ResultPart {
  return { type: 'text', text: words };
}
