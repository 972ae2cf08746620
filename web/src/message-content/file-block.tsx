/** An image or a document of a message. External URLs are shown as links and not fetched. */
import { FileText, ImageIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ContentBlock } from 'nightshift/client';
import { contentWords } from '../words.ts';
import css from './file-block.module.css';

export function FileBlock({ block }: { block: ContentBlock }) {
  switch (block.type) {
    case 'image':
      return block.source.type === 'base64' ? (
        <img className={css.image} alt="" src={`data:${block.source.media_type};base64,${block.source.data}`} />
      ) : (
        <Linked name={contentWords.image} url={block.source.url} icon={<ImageIcon size={16} aria-hidden="true" />} />
      );
    case 'document': {
      const name = block.title ?? contentWords.document;
      const icon = <FileText size={16} aria-hidden="true" />;
      if (block.source.type === 'url') return <Linked name={name} url={block.source.url} icon={icon} />;
      return (
        <span className={css.attachment}>
          {icon} {name}
        </span>
      );
    }
    case 'text':
    case 'thinking':
    case 'tool_use':
    case 'tool_result':
      return null;
  }
}

function Linked({ name, url, icon }: { name: string; url: string; icon: ReactNode }) {
  const isSafe = /^https?:/i.test(url);
  return (
    <span className={css.attachment}>
      {icon}
      {isSafe ? (
        <a href={url} target="_blank" rel="noopener noreferrer nofollow" style={{ color: 'inherit' }}>
          {name}
        </a>
      ) : (
        name
      )}
    </span>
  );
}
