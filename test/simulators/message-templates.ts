/** A template that both simulated SMS providers have approved. */
interface ApprovedTemplate {
  /** Its name at Kavenegar. */
  readonly name: string;
  /** Its number at SMS.ir. */
  readonly id: number;
  /** Returns the message as a phone gets it: iOS and WebOTP read its last line, Android finds the app by the 11 characters before it. */
  readonly text: (code: string) => string;
}

const persian = (domain: string) => (code: string) => `کد ورود: ${code}\nFA+9qCX9VSu\n@${domain} #${code}`;
const english = (domain: string) => (code: string) =>
  `Sign-in code: ${code}\nFA+9qCX9VSu\n@${domain} #${code}`;

/** The templates of the stage by language. */
export const STAGE_TEMPLATES = {
  fa: { name: 'sign-in-code', id: 100_001, text: persian('buyer-app.example') },
  en: { name: 'sign-in-code-en', id: 100_002, text: english('buyer-app.example') },
} as const satisfies Record<string, ApprovedTemplate>;

/** Every approved template: those of the stage, and two that a seller may choose for its own messages. */
export const APPROVED_TEMPLATES: readonly ApprovedTemplate[] = [
  ...Object.values(STAGE_TEMPLATES),
  { name: 'kaveh-books', id: 200_001, text: persian('kaveh.example') },
  { name: 'kaveh-books-en', id: 200_002, text: english('kaveh.example') },
];
