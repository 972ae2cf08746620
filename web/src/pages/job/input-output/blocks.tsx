/** The content of a message as the chat shows it: inputs as plain text, answers as Markdown. */
import type { ContentBlock } from 'nightshift/client';
import { FileBlock } from '../../../message-content/file-block.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { Markdown } from '../../../ui/text/markdown.tsx';
import css from './input-output.module.css';

type Props = { content: readonly ContentBlock[]; as: 'plain' | 'markdown' };

export function Blocks({ content, as }: Props) {
  return (
    <div className={css.blocks}>
      {content.map((block, at) => (
        <Block key={at} block={block} as={as} />
      ))}
    </div>
  );
}

function Block({ block, as }: { block: ContentBlock; as: Props['as'] }) {
  switch (block.type) {
    case 'text':
      return as === 'plain' ? <div className={css.plain}>{block.text}</div> : <Markdown text={block.text} />;
    case 'thinking':
      return <div className={css.thought}>{block.text}</div>;
    case 'tool_use':
      return <Json value={block.input} label={block.name} />;
    case 'tool_result':
      return <Json value={block.content} />;
    case 'image':
    case 'document':
      return <FileBlock block={block} />;
  }
}
