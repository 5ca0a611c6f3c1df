import { language } from './dom.js';

/** Lets a button copy the block around it. */
export const setUpCopyButton = (button) => {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.closest('figure').querySelector('pre').textContent);
    button.textContent = language === 'fa' ? 'رونوشت شد' : 'Copied';
  });
};
