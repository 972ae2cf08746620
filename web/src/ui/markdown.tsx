/// <reference types="remark-parse" />
/**
 * Markdown that a model or a person wrote. It is not trusted: what looks like HTML is shown as text, for nothing of it may
 * vanish (`<plan>`, `List<String>`); links are those that react-markdown lets pass (http, https, mailto …) and open beside the
 * page; images are shown as links.
 */
import { memo } from 'react';
import ReactMarkdown from 'react-markdown';
import type { Components, Options } from 'react-markdown';
import rehypeHighlight from 'rehype-highlight';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from './code-block.tsx';
import './highlight.css';
import css from './markdown.module.css';

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  // Showing it would tell a foreign server who reads this.
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt === undefined || alt === '' ? 'image' : alt}
    </a>
  ),
  pre: ({ children }) => <CodeBlock>{children}</CodeBlock>,
  table: ({ children }) => (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard
    <div className={css.scroll} tabIndex={0} role="region" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  // The headings of a page are its own.
  h1: ({ children }) => <h3>{children}</h3>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
};

type RemarkPlugin = Extract<NonNullable<Options['remarkPlugins']>[number], (...given: never[]) => unknown>;

/** HTML is no syntax then: its tags are words, and Markdown between them is Markdown. */
const withoutHtml: RemarkPlugin = function () {
  const data = this.data();
  data.micromarkExtensions = [
    ...(data.micromarkExtensions ?? []),
    { disable: { null: ['htmlFlow', 'htmlText'] } },
  ];
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
