import {
  everything,
  formatLabelSelector,
  labelSelectorOf,
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
  SelectorError,
} from '../../api/selectors/label-selector.ts';

/** A parsed selector. `text` is equal for equal selectors. */
export type WrittenSelector =
  | { readonly type: 'valid'; readonly selector: LabelSelector; readonly text: string }
  /** It selects nothing, and its author gets an event. */
  | { readonly type: 'invalid'; readonly text: string; readonly problem: string };

const anything: WrittenSelector = { type: 'valid', selector: everything, text: '' };

/** A claim's spec.selector. */
export function selectorOfVolumes(written: LabelSelectorObject | undefined): WrittenSelector {
  return written === undefined ? anything : read(JSON.stringify(written), () => labelSelectorOf(written));
}

/** A volume's claim-selector annotation: which claims may take it. */
export function selectorOfClaims(written: string | undefined): WrittenSelector {
  return written === undefined ? anything : read(written, () => parseLabelSelector(written));
}

function read(text: string, parse: () => LabelSelector): WrittenSelector {
  try {
    const selector = parse();
    return { type: 'valid', selector, text: formatLabelSelector(selector) };
  } catch (error) {
    if (error instanceof SelectorError) return { type: 'invalid', text: `invalid: ${text}`, problem: error.message };
    throw error;
  }
}
