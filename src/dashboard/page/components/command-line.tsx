import { useState } from 'preact/hooks';

/** A command for a shell, with a button that copies it. */
export function CommandLine({ line }: { readonly line: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(line);
    setCopied(true);
  };
  return (
    <span class="command">
      <code>{line}</code>
      <button type="button" onClick={() => void copy()} aria-label={`Copy: ${line}`}>
        {copied ? 'Copied' : 'Copy'}
      </button>
    </span>
  );
}
