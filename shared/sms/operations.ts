/** The operation of an SMS provider, as errors, logs and metrics name it. */
export const SEND_CODE = 'send_code';
