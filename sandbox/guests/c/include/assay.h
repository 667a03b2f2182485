// Included before every program: what a libc for one program alone leaves out.
#ifdef __cplusplus
extern "C"
#endif
int system(const char *);
