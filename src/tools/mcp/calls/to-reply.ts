/** Converts the result of an MCP tool to text and images. Other content is mentioned as text. */
import type { CallToolResult, ContentBlock, EmbeddedResource } from '@modelcontextprotocol/sdk/types.js';
import type { ResultPart } from '../../../core/conversation/blocks.ts';
import type { ToolReply } from '../../registry/tool-context.ts';

/** The tool runner applies the limits of results. */
export function toReply({ content, structuredContent, isError }: CallToolResult): ToolReply {
  const parts = content.map(toPart);
  const hasContent = parts.some((part) => part.type !== 'text' || part.text !== '');
  // Structured content repeats the text if there is any.
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
      return text(`(Audio of type ${block.mimeType} was omitted.)`);
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
    : text(`(Resource ${resource.uri} of ${type} was omitted.)`);
}

/** The tool runner removes image types that models do not support. */
function image(mediaType: string, data: string): ResultPart {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

function text(content: string): ResultPart {
  return { type: 'text', text: content };
}
