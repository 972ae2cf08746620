/** The context list and the open context: side by side, on narrow screens one of the two. */
import { useParams } from '@tanstack/react-router';
import { MessagesSquare } from 'lucide-react';
import { Empty } from '../../ui/layout/empty.tsx';
import { useTitle } from '../../ui/layout/page.tsx';
import { chatWords, placeWords } from '../../words.ts';
import css from './chat.module.css';
import { ContextsPane } from './contexts/contexts-pane.tsx';
import { Conversation } from './conversation.tsx';
import { NewWorker } from './contexts/new-worker.tsx';

export function ChatPage() {
  const { contextId } = useParams({ strict: false });
  return (
    <div className={css.chat} data-open={contextId !== undefined}>
      <ContextsPane openId={contextId} />
      {contextId === undefined ? <NothingOpen /> : <Conversation key={contextId} id={contextId} />}
    </div>
  );
}

function NothingOpen() {
  useTitle(placeWords.chat);
  return (
    <div className={css.nothing}>
      <Empty
        icon={<MessagesSquare aria-hidden="true" />}
        title={chatWords.nothingOpen.title}
        action={<NewWorker variant="primary" />}
      >
        {chatWords.nothingOpen.about}
      </Empty>
    </div>
  );
}
