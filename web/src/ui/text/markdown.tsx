/// <reference types="remark-parse" />
/**
 * Renders untrusted Markdown of models and people. HTML is shown as text, so that texts such as `<plan>` or
 * `List<String>` stay visible. Links are limited to the protocols that react-markdown allows (http, https, mailto …)
 * and open in a new tab. Images are shown as links.
 */
import { memo } from 'react';
import ReactMarkdown, { type Components, type Options } from 'react-markdown';
import rehypeHighlight from 'rehype-highlight';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from './code-block.tsx';
import '../highlight.css';
import { uiWords } from '../../words.ts';
import css from './markdown.module.css';

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  // Loading the image would reveal the reader to a foreign server.
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt === undefined || alt === '' ? uiWords.image : alt}
    </a>
  ),
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard
    <div className={css.scroll} tabIndex={0} role="region" aria-label={uiWords.table}>
      <table>{children}</table>
    </div>
  ),
  // h1 and h2 are reserved for the page.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
};

type RemarkPlugin = Extract<NonNullable<Options['remarkPlugins']>[number], (...given: never[]) => unknown>;

/** Disables HTML syntax: tags become text, and Markdown between them is still rendered. */
const withoutHtml: RemarkPlugin = function () {
  const data = this.data();
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), { disable: { null: ['htmlFlow', 'htmlText'] } }];
};

const remark = [remarkGfm, withoutHtml];
const rehype = [rehypeHighlight];

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className={css.markdown}>
      <ReactMarkdown remarkPlugins={remark} rehypePlugins={rehype} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
